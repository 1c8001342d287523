import { describe, expect, it } from 'vitest'
import { ApiError } from './api.ts'
import {
  type BookingForm,
  errorsOf,
  type FormField,
  fieldsOf,
  formText,
  prefilled,
  refusedFields,
  responsesOf,
} from './fields.ts'
import type { Translate } from './texts/index.ts'

const t: Translate = (key) => key
const field = (name: string, type: FormField['type'], required = true, options?: FormField['options']): FormField => ({
  ...{ name, label: name, type, required },
  ...(options !== undefined && { options }),
})
const OPTIONS = [
  { value: 'a', label: 'A' },
  { value: 'b', label: 'B' },
]
const form: BookingForm = {
  fields: [
    field('company', 'text'),
    field('phone', 'phone', false),
    field('topic', 'select', true, OPTIONS),
    field('langs', 'multiselect', true, OPTIONS),
    field('terms', 'checkbox'),
  ],
}

describe('the booking form', () => {
  it('begins with name and address, unless the experience has its own', () => {
    const names = (given: BookingForm | null) => fieldsOf(given, t).map(({ name, required }) => `${name} ${required}`)
    expect(names(null)).toEqual(['name true', 'email true'])
    expect(names({ fields: [field('company', 'text', false), field('email', 'email', false)] })).toEqual([
      'name true',
      'company false',
      'email true',
    ])
  })

  it('names what is missing or wrong', () => {
    const fields = fieldsOf(form, t)
    expect(errorsOf(fields, {}, t)).toEqual({
      ...{ name: 'required', email: 'required', company: 'required' },
      ...{ topic: 'requiredChoice', langs: 'requiredChoice', terms: 'requiredCheck' },
    })
    const values = { name: 'Ada', company: 'X', topic: 'a', langs: ['b'], terms: true }
    expect(errorsOf(fields, { ...values, email: 'ada at home', phone: 'none' }, t)).toEqual({
      email: 'invalidEmail',
      phone: 'invalidPhone',
    })
    expect(errorsOf(fields, { ...values, email: 'ada@example.com', phone: '+49 (30) 12-34' }, t)).toEqual({})
  })

  it('sends answers that are not empty, without spaces around them', () => {
    const values = { name: 'Ada', company: ' X ', phone: ' ', topic: '', langs: [], terms: false }
    expect(responsesOf(form, values)).toEqual({ company: 'X', terms: false })
  })

  it('says at its field what the API refuses, by path and code, the first of several', () => {
    const own = ['guest', 'body', 'website', 'first.name'].map((name) => field(name, 'text'))
    const fields = fieldsOf({ fields: [...(form.fields ?? []), ...own] }, t)
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
      ...{
        name: 'noLinks',
        email: 'invalidEmail',
        company: 'tooLong',
        topic: 'requiredChoice',
        terms: 'requiredCheck',
      },
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
    expect(formText(error, fieldsOf(form, t))).toBe(text)
  })

  it('takes values of the page by name, whatever its case, and only known options', () => {
    const fields = fieldsOf({ fields: [...(form.fields ?? []), field('teamSize', 'text')] }, t)
    const given = { NAME: 'Ada', 'team-size': '3', topic: 'c', langs: 'a, c', terms: 'true', other: 'x' }
    expect(prefilled(fields, given)).toEqual({ name: 'Ada', teamSize: '3', topic: '', langs: ['a'], terms: true })
  })
})
