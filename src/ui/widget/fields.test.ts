import { describe, expect, it } from 'vitest'
import { type BookingForm, buildFields, type FormField, findErrors, prefilled, toResponses } from './fields.ts'
import type { Translate } from './texts/index.ts'

const t: Translate = (key) => key
const field = (name: string, type: FormField['type'], required = true, options?: FormField['options']): FormField => ({
  name,
  label: name,
  type,
  required,
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
    const names = (form: BookingForm | null) => buildFields(form, t).map(({ name, required }) => `${name} ${required}`)
    expect(names(null)).toEqual(['name true', 'email true'])
    expect(names({ fields: [field('company', 'text', false), field('email', 'email', false)] })).toEqual([
      'name true',
      'company false',
      'email true',
    ])
  })

  it('names what is missing or wrong', () => {
    const fields = buildFields(form, t)
    expect(findErrors(fields, {}, t)).toEqual({
      name: 'required',
      email: 'required',
      company: 'required',
      topic: 'requiredChoice',
      langs: 'requiredChoice',
      terms: 'requiredCheck',
    })
    const values = { name: 'Ada', company: 'X', topic: 'a', langs: ['b'], terms: true }
    expect(findErrors(fields, { ...values, email: 'ada at home', phone: 'none' }, t)).toEqual({
      email: 'invalidEmail',
      phone: 'invalidPhone',
    })
    expect(findErrors(fields, { ...values, email: 'ada@example.com', phone: '+49 (30) 12-34' }, t)).toEqual({})
  })

  it('sends answers that are not empty, without spaces around them', () => {
    const values = { name: 'Ada', company: ' X ', phone: ' ', topic: '', langs: [], terms: false }
    expect(toResponses(form, values)).toEqual({ company: 'X', terms: false })
  })

  it('takes values of the page by name, whatever its case, and only known options', () => {
    const fields = buildFields({ fields: [...(form.fields ?? []), field('teamSize', 'text')] }, t)
    const prefill = { NAME: 'Ada', 'team-size': '3', topic: 'c', langs: 'a, c', terms: 'true', other: 'x' }
    expect(prefilled(fields, prefill)).toEqual({ name: 'Ada', teamSize: '3', topic: '', langs: ['a'], terms: true })
  })
})
