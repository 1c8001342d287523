import { describe, expect, it } from 'vitest'
import { deduplicationKey, KEY_FIELD_PATTERN, type KeySource } from './duplicates.ts'

const SUBJECT: KeySource = {
  accountId: 'acc_1',
  eventType: 'message.received',
  provider: 'imap',
  objectId: 'msg_1',
  version: 1,
  data: { from: { email: 'a@example.com', name: 'A' }, to: [{ email: 'b@example.com' }] },
}

const key = (fields: string[], change: Partial<KeySource> = {}) =>
  deduplicationKey('events', fields, { ...SUBJECT, ...change })

describe('the deduplication key', () => {
  it.each([
    ['accountId', { accountId: 'acc_2' }],
    ['eventType', { eventType: 'message.sent' }],
    ['provider', { provider: 'gmail' }],
    ['objectId', { objectId: null }],
    ['version', { version: 2 }],
    ['data.from.email', { data: { from: { email: 'c@example.com' } } }],
    ['data.to.0.email', { data: { to: [] } }],
    ['data.from', { data: { from: { email: 'a@example.com', name: 'B' } } }],
  ] satisfies [string, Partial<KeySource>][])('depends on %s only where that is a key field', (field, change) => {
    expect(key([field])).not.toBe(key([field], change))
    const other = field === 'accountId' ? 'version' : 'accountId'
    expect(key([other])).toBe(key([other], change))
  })

  it('does not depend on the order of fields or members', () => {
    expect(key(['version', 'data.from'])).toBe(
      key(['data.from', 'version'], { data: { from: { name: 'A', email: 'a@example.com' } } }),
    )
  })

  it('reads missing members as null and ignores inherited ones', () => {
    expect(key(['data.nothing.at.all'])).toBe(key(['data.nothing.at.all'], { data: undefined }))
    expect(key(['data.constructor'])).toBe(key(['data.constructor'], { data: null }))
  })

  it('distinguishes one value from two, and a text from a number', () => {
    const fields = ['accountId', 'objectId']
    expect(key(fields, { accountId: 'a","b', objectId: 'c' })).not.toBe(
      key(fields, { accountId: 'a', objectId: 'b","c' }),
    )
    expect(key(['data.n'], { data: { n: 1 } })).not.toBe(key(['data.n'], { data: { n: '1' } }))
  })

  it('of a test differs from the key of an event', () => {
    expect(deduplicationKey('test', ['version'], SUBJECT)).not.toBe(key(['version']))
  })

  it.each(['', 'data', 'data.', 'data..x', 'accountId ', '.x', 'x.', 'x..y'])('rejects the field "%s"', (field) => {
    expect(new RegExp(KEY_FIELD_PATTERN).test(field)).toBe(false)
  })

  it.each(['subject', 'id', 'from.email', 'to.0.email'])('reads any other name, such as %s, from the data', (field) => {
    expect(new RegExp(KEY_FIELD_PATTERN).test(field)).toBe(true)
    expect(key([field])).toBe(key([`data.${field}`]))
    expect(key(['from.email'])).not.toBe(key(['from.email'], { data: { from: { email: 'c@example.com' } } }))
  })
})
