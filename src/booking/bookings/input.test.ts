import { describe, expect, it } from 'vitest'
import { AppError } from '../../platform/errors/app-error.ts'
import type { BookingForm } from '../experiences/experience.ts'
import { hashRequest, parseSlot, parseSubmission } from './input.ts'

const FORM: BookingForm = {
  fields: [
    { name: 'topic', label: 'Topic', type: 'text', required: true },
    { name: 'mail', label: 'Other address', type: 'email' },
    { name: 'phone', label: 'Phone', type: 'phone' },
    { name: 'notes', label: 'Notes', type: 'textarea' },
    { name: 'plan', label: 'Plan', type: 'select', options: [{ value: 'a', label: 'A' }] },
    {
      name: 'teams',
      label: 'Teams',
      type: 'multiselect',
      options: [
        { value: 'x', label: 'X' },
        { value: 'y', label: 'Y' },
      ],
    },
    { name: 'terms', label: 'Terms', type: 'checkbox', required: true },
  ],
}
const GUEST = { email: 'lin@northwind.example', name: 'Lin Duarte' }
const ANSWERS = { topic: 'Terms', terms: true }

function findPaths(body: Parameters<typeof parseSubmission>[0], form: BookingForm | null = FORM): string[] {
  try {
    parseSubmission(body, form)
    return []
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    expect(error.code).toBe('validation_failed')
    return error.details.map(({ path }) => path)
  }
}

describe('what a booking request gives', () => {
  it('is kept as it is, with further members', () => {
    const body = {
      guest: { ...GUEST, timezone: 'America/Sao_Paulo', locale: 'pt-BR', company: 'Northwind' },
      attendees: [{ email: 'bo@northwind.example', displayName: 'Bo' }, { id: 7 }],
      responses: {
        ...ANSWERS,
        mail: 'l@d.example',
        phone: '+55 (11) 4004-1234',
        notes: 'One\nTwo',
        plan: 'a',
        teams: ['y', 'x'],
        more: { kept: [1] },
      },
      metadata: { campaign: 'autumn' },
    }
    const { guest, attendees, responses, metadata } = parseSubmission(body, FORM)
    expect({ guest, attendees, responses, metadata }).toEqual(body)
  })

  it('names each answer that breaks its field', () => {
    const wrong = {
      topic: ' ',
      mail: 'no',
      phone: 'call me',
      notes: 'a\u0000',
      plan: 'b',
      teams: ['x', 'z'],
      terms: false,
    }
    expect(findPaths({ guest: GUEST, responses: wrong })).toEqual(
      Object.keys(wrong).map((name) => `body.responses.${name}`),
    )
    const types = { topic: ['a'], mail: 1, phone: {}, notes: 'a'.repeat(5001), plan: ['a'], teams: 'x', terms: 'yes' }
    expect(findPaths({ guest: GUEST, responses: types })).toHaveLength(7)
    expect(findPaths({ guest: GUEST, responses: { ...ANSWERS, teams: ['x', 'x'], topic: 'a\nb' } })).toEqual([
      'body.responses.topic',
      'body.responses.teams',
    ])
    expect(findPaths({ guest: GUEST }, null)).toEqual([])
  })

  it('says by a code what is wrong with each value, for pages in other languages', () => {
    const findCodes = (body: Parameters<typeof parseSubmission>[0]) => {
      try {
        parseSubmission(body, FORM)
        return {}
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        return Object.fromEntries(error.details.map(({ path, code }) => [path.split('.').slice(2).join('.'), code]))
      }
    }
    const responses = {
      topic: 'a\tb',
      mail: 'no',
      phone: 'call me',
      notes: 'a'.repeat(5001),
      plan: 'b',
      teams: ['x', 'x'],
      terms: false,
    }
    const found = findCodes({ guest: { email: 'no', name: 'www.example.com' }, responses })
    expect(found).toEqual({
      email: 'invalid_email',
      name: 'contains_link',
      topic: 'invalid_characters',
      mail: 'invalid_email',
      phone: 'invalid_phone',
      notes: 'too_long',
      plan: 'invalid_option',
      teams: 'invalid_option',
      terms: 'required',
    })
    for (const name of ['', ' ', '\u200b\u00ad', '\u3164']) {
      expect([name, findCodes({ guest: { ...GUEST, name }, responses: ANSWERS })]).toEqual([name, { name: 'required' }])
    }
    expect(findCodes({ guest: { ...GUEST, name: 'Lin\n' }, responses: ANSWERS })).toEqual({
      name: 'invalid_characters',
    })
    expect(findCodes({ guest: GUEST, responses: { ...ANSWERS, more: 'a'.repeat(33_000) } })).toEqual({ '': 'too_long' })
  })

  it('takes addresses with other letters on both sides, and locales with extensions', () => {
    const guest = { email: 'jörg@bücher.example', name: 'Jörg', locale: 'de-DE-u-ca-gregory-hc-h23-nu-latn' }
    expect(parseSubmission({ guest }, null).guest).toMatchObject({ ...guest, email: 'jörg@xn--bcher-kva.example' })
  })

  it('refuses guests whose name or address could change a message', () => {
    const bodies = [
      { ...GUEST, name: 'Lin\r\nBcc: x@y.example' },
      { ...GUEST, name: 'See https://evil.example' },
      { ...GUEST, name: 'a'.repeat(201) },
      { ...GUEST, email: 'lin@northwind.example, x@y.example' },
      { ...GUEST, email: 'lin@northwind.example\r\nBcc: x@y.example' },
      { ...GUEST, timezone: 'Mars/Olympus' },
      { ...GUEST, locale: 'en"onload=' },
    ]
    for (const guest of bodies) expect(findPaths({ guest }, null)).toHaveLength(1)
    expect(findPaths({ guest: GUEST, attendees: [{ email: 'x' }, { displayName: 'a\nb' }] }, null)).toEqual([
      'body.attendees.0.email',
      'body.attendees.1.displayName',
    ])
    expect(findPaths({ guest: GUEST, website: 'https://spam.example' }, null)).toEqual(['body.website'])
    expect(findPaths({ guest: GUEST, metadata: { big: 'a'.repeat(33_000) } }, null)).toEqual(['body.metadata'])
  })

  it('has a slot with times in RFC 3339, in order', () => {
    expect(parseSlot('body.slot', { start: '2026-11-25T10:00:00+01:00' })).toEqual({
      start: Date.parse('2026-11-25T09:00:00Z'),
    })
    for (const slot of [
      { start: '2026-11-25T09:00:00' },
      { start: '2026-11-25T09:00:00Z', end: '2026-11-25T09:00:00Z' },
      { start: '2026-11-25T09:00:00Z', timezone: 'Mars/Olympus' },
    ]) {
      expect(() => parseSlot('body.slot', slot)).toThrow(AppError)
    }
  })

  it('is the same request whatever the order of its members', () => {
    expect(hashRequest({ a: 1, b: { c: [1, 2], d: null } })).toBe(hashRequest({ b: { d: null, c: [1, 2] }, a: 1 }))
    expect(hashRequest({ a: [1, 2] })).not.toBe(hashRequest({ a: [2, 1] }))
  })
})
