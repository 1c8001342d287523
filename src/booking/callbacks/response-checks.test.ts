import { expect, it } from 'vitest'
import { fc } from '../../../test/kit/random/random.ts'
import { BadAnswer, parseAvailability, parseDecision, parseRoute } from './response-checks.ts'

const text = fc.string({ unit: 'binary', maxLength: 20 })
const time = fc.oneof(
  fc.constantFrom(
    '2026-11-24T09:00:00Z',
    '2026-11-24T10:00:00+01:00',
    '2026-11-24T09:30:00.5Z',
    '2026-02-30T09:00:00Z',
  ),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
)
const zone = fc.constantFrom('Europe/Berlin', 'UTC', 'Nowhere', '')
const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), text, time, zone)
const members = (names: string[]) => fc.dictionary(fc.constantFrom(...names, 'own', 'constructor'), value)
const usual = fc
  .tuple(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 1, max: 1440 }), fc.dictionary(text, value))
  .map(([start, minutes, metadata]) => ({
    start: new Date(start * 60_000).toISOString(),
    end: new Date((start + minutes) * 60_000).toISOString(),
    metadata,
  }))
const odd = fc.record(
  { start: time, end: time, timezone: zone, participants: fc.array(value), metadata: value },
  { requiredKeys: ['start', 'end'] },
)
const slots = fc.oneof(fc.array(usual, { maxLength: 8 }), fc.array(fc.oneof(usual, odd), { maxLength: 8 }), value)
const response = fc.oneof(
  value,
  fc.record({ generatedAt: fc.oneof(time, value), slots }),
  members(['generatedAt', 'expiresAt', 'timezone', 'slots', 'status', 'eventId', 'joinUrl', 'metadata', 'message']),
  members(['slug', 'accountIds', 'redirectUrl']),
)

it('accepts any response or says what is wrong with it', async () => {
  const checked = async <T>(parse: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await parse()
    } catch (error) {
      expect(error).toBeInstanceOf(BadAnswer)
      return undefined
    }
  }
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(response, async (body) => {
      const found = await checked(() => parseAvailability(body, 'UTC'))
      for (const [index, { start, end, participants, metadata }] of (found?.slots ?? []).entries()) {
        accepted += 1
        const previous = found?.slots[index - 1]
        expect(end).toBeGreaterThan(start)
        expect([Number.isSafeInteger(start), Array.isArray(participants), typeof metadata]).toEqual([
          true,
          true,
          'object',
        ])
        if (previous === undefined) continue
        expect(previous.start < start || (previous.start === start && previous.end < end)).toBe(true)
      }
      await checked(() => parseDecision(body))
      await checked(() => parseRoute(body))
    }),
    { numRuns: 1000 },
  )
  expect(accepted).toBeGreaterThan(0)
})
