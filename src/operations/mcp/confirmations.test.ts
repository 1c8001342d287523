import { expect, it } from 'vitest'
import { fixedClock } from '../../platform/time/clock.ts'
import { confirmations } from './confirmations.ts'

const START_MS = Date.parse('2026-06-01T00:00:00Z')
const SUBJECT = { to: ['a@example.com'], slug: 'call' }

it('redeems a token on any instance, whatever the order of arguments, with one key for all its uses', () => {
  const { confirmationToken, expiresAt } = confirmations('key', fixedClock(START_MS)).create('book', SUBJECT)
  expect(expiresAt).toBe('2026-06-01T00:30:00.000Z')
  const other = confirmations('key', fixedClock(START_MS + 1))
  const keys = [SUBJECT, { slug: 'call', to: ['a@example.com'] }].map((subject) =>
    other.redeem(confirmationToken, 'book', subject),
  )
  expect(keys).toEqual([`mcp-${confirmationToken}`, `mcp-${confirmationToken}`])
})

it('refuses a token for another action, subject or API key, and forged ones', () => {
  const clock = fixedClock(START_MS)
  const own = confirmations('key', clock)
  const { confirmationToken: token } = own.create('book', SUBJECT)
  const [expiry = '', signature = ''] = token.split('.')
  const later = `${(START_MS + 9e9).toString(36)}.${signature}`
  const attempts = [
    () => own.redeem(token, 'send', SUBJECT),
    () => own.redeem(token, 'book', { ...SUBJECT, to: ['b@example.com'] }),
    () => confirmations('other', clock).redeem(token, 'book', SUBJECT),
    ...['', '.', later, `${expiry}.${'A'.repeat(43)}`, `${token}x`, token.slice(0, -1)].map(
      (forged) => () => own.redeem(forged, 'book', SUBJECT),
    ),
  ]
  for (const attempt of attempts) expect(attempt).toThrow(/does not belong to this call.*Nothing was done/)
})

it('refuses an expired token', () => {
  const clock = fixedClock(START_MS)
  const own = confirmations('key', clock)
  const { confirmationToken } = own.create('book', SUBJECT)
  clock.advance(30 * 60_000 - 1)
  own.redeem(confirmationToken, 'book', SUBJECT)
  clock.advance(1)
  expect(() => own.redeem(confirmationToken, 'book', SUBJECT)).toThrow(/has expired. Nothing was done/)
})
