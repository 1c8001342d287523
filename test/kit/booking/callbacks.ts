import { expect } from 'vitest'
import type { Db } from '../../../src/platform/db/index.ts'
import { fixedClock } from '../../../src/platform/time/clock.ts'
import { type Received, type ReceiverResponse, startReceiver } from '../../servers/receiver.ts'
import { closing } from '../closing.ts'
import { memoryLog } from '../service/memory-log.ts'
import { schedulerFixture } from './scheduler.ts'

/** The time of the service. */
export const NOW = Date.parse('2026-11-23T08:00:00Z')
export const GENERATED = '2026-11-23T08:00:00.000Z'
export const RANGE = { start: '2026-11-24T00:00:00+01:00', end: '2026-11-25T00:00:00+01:00' }
export const at = (time: string) => `2026-11-24T${time}:00Z`
export const slot = <More extends object>(start: string, end: string, more?: More) => ({
  start: at(start),
  end: at(end),
  ...(more as More),
})
export const availability = (slots: unknown, more = {}) => ({ generatedAt: GENERATED, slots, ...more })
export const json = (body: unknown, status = 200): ReceiverResponse => ({ status, body: JSON.stringify(body) })

/** A service with the experience `intro-call`, and an application that receives its callbacks. */
export async function serveCallbacks(db: Db, changes: Record<string, unknown> = {}) {
  const receiver = closing(await startReceiver())
  const { log, entries } = memoryLog()
  const clock = fixedClock(NOW)
  const fixture = schedulerFixture(db, { log, clock })
  const created = await fixture.call('POST', '/scheduler/experiences', {
    slug: 'intro-call',
    name: 'Intro call',
    timezone: 'Europe/Berlin',
    availabilityEndpoint: { url: receiver.url, headers: { 'X-Own': 'own', 'User-Agent': 'Ours' } },
    bookingEndpoint: { url: receiver.url, method: 'PUT', secret: 'plain secret' },
    ...changes,
  })
  expect([created.status, created.text]).toEqual([201, expect.anything()])
  const { scheduler } = fixture.features
  const experience = () => scheduler.experiences.getActive('intro-call')
  return {
    ...fixture,
    receiver,
    entries,
    clock,
    secret: created.json.callbackSecret as string,
    experience,
    /** As a guest. */
    list: (body: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
      fixture.visit(
        'POST',
        '/scheduler/experiences/intro-call/availability',
        { range: RANGE, durationMinutes: 30, ...body },
        headers,
      ),
    async check(choice: Parameters<typeof scheduler.finder.check>[1], more = {}) {
      const { signal } = new AbortController()
      return scheduler.finder.check(await experience(), choice, { signal, ...more })
    },
    warnings: () => entries.filter(({ level }) => level === 'warn').map(({ message }) => message),
  }
}

export const lastBody = (requests: readonly Received[]) => JSON.parse(requests.at(-1)?.body ?? '{}')
