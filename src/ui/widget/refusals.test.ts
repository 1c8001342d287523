import { describe, expect, it } from 'vitest'
import { ApiError } from './api.ts'
import { buildFields, type FormField } from './fields.ts'
import { formText, refusedFields } from './refusals.ts'
import type { Translate } from './texts/index.ts'

const t: Translate = (key) => key
const field = (name: string, type: FormField['type'] = 'text') => ({ name, label: name, type })
const OPTIONS = [{ value: 'a', label: 'A' }]
const form = {
  fields: [field('company'), { ...field('topic', 'select'), options: OPTIONS }, field('terms', 'checkbox')],
}

describe('a refusal of the API', () => {
  it('says at its field what the API refuses, by path and code, the first of several', () => {
    const own = ['guest', 'body', 'website', 'first.name'].map((name) => field(name))
    const fields = buildFields({ fields: [...form.fields, ...own] }, t)
    const details = [
      { path: 'body.guest.name', code: 'contains_link' },
      { path: 'body.guest.email', code: 'invalid_email' },
      { path: 'body.responses.email', code: 'too_long' },
      { path: 'body.responses.company', code: 'too_long' },
      { path: 'body.responses.topic', code: 'required' },
      { path: 'body.responses.terms', code: 'required' },
      { path: 'body.responses.first.name' },
      { path: 'body.website' },
      { path: 'body.slot.start' },
    ]
    expect(refusedFields(details, fields, t)).toEqual({
      name: 'noLinks',
      email: 'invalidEmail',
      company: 'tooLong',
      topic: 'requiredChoice',
      terms: 'requiredCheck',
      'first.name': 'invalid',
    })
    expect(refusedFields([{ path: 'body.email', code: 'invalid_email' }], fields, t)).toEqual({ email: 'invalidEmail' })
  })

  it.each([
    ['invalidForm', 'validation_failed', [{ path: 'body.guest.email' }]],
    ['longAnswers', 'validation_failed', [{ path: 'body.responses', code: 'too_long' }]],
    ['longAnswers', 'payload_too_large', []],
    ['failed', 'validation_failed', [{ path: 'body.website' }]],
    ['tooManyMessages', 'mail_limited', []],
    [undefined, 'validation_failed', [{ path: 'body.verificationCode' }]],
    [undefined, 'callback_failed', []],
  ])('says %s below the form about %s of %j', (text, code, details) => {
    const error = new ApiError(code, '', 400, { error: { details } })
    expect(formText(error, buildFields(form, t))).toBe(text)
  })
})
