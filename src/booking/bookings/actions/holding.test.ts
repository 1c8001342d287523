import { expect, it } from 'vitest'
import { schedulerFixture } from '../../../../test/kit/booking/scheduler.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { fixedClock } from '../../../platform/time/clock.ts'

const PATH = '/scheduler/experiences/intro-call'
const MINUTE_MS = 60_000
const GUEST = { email: 'grace@example.org' }
/** A Monday. */
const DAY = '2026-11-30'

describeEachDatabase('holds of guests without a key', (open) => {
  async function serve(availability: object = {}) {
    const clock = fixedClock(Date.parse('2026-11-23T08:00:00Z'))
    const fixture = schedulerFixture(await open(), { clock })
    const hosts = [await fixture.account(), await fixture.account()]
    const created = await fixture.call('POST', '/scheduler/experiences', {
      slug: 'intro-call',
      name: 'Intro call',
      timezone: 'UTC',
      defaultAccountIds: hosts,
      availability: { openHours: [{ days: ['monday'], start: '09:00', end: '17:00' }], ...availability },
    })
    expect(created.status).toBe(201)
    const { bookings } = fixture.features.scheduler
    const slot = (time: string) => ({ start: `${DAY}T${time}:00.000Z` })
    return {
      ...fixture,
      clock,
      hosts,
      /** The code of the error, or undefined. */
      async hold(time: string, client: string | undefined = '203.0.113.1'): Promise<string | undefined> {
        const options = { requestId: 'req_test', client }
        return bookings.hold('intro-call', slot(time), options).then(
          () => undefined,
          (error) => error.code ?? String(error),
        )
      },
      keyedHold: (time: string) =>
        bookings.hold('intro-call', slot(time), { requestId: 'req_test', client: undefined }),
      book: (time: string) => fixture.visit('POST', `${PATH}/bookings`, { slot: slot(time), guest: GUEST }),
    }
  }

  it('are three at a time, also of parallel requests', async () => {
    const { hold, clock } = await serve()
    const times = ['09:00', '09:30', '10:00', '10:30', '11:00', '11:30']
    const outcomes = await Promise.all(times.map((time) => hold(time)))
    expect(outcomes.filter((outcome) => outcome === undefined)).toHaveLength(3)
    expect(outcomes.filter((outcome) => outcome === 'rate_limited')).toHaveLength(3)
    expect(await hold('12:00', '203.0.113.2')).toBeUndefined()
    clock.advance(5 * MINUTE_MS)
    expect(await hold('12:30')).toBeUndefined()
  })

  it('are not given again for a time that the client let go, but the time can be booked', async () => {
    const { hold, clock, book } = await serve()
    expect(await hold('09:00')).toBeUndefined()
    clock.advance(5 * MINUTE_MS)
    expect(await hold('09:00')).toBe('hold_unavailable')
    expect(await hold('09:30')).toBeUndefined()
    expect(await hold('09:00', '203.0.113.2')).toBeUndefined()
    clock.advance(5 * MINUTE_MS)
    expect((await book('09:00')).status).toBe(201)
    clock.advance(60 * MINUTE_MS)
    expect(await hold('09:30')).toBeUndefined()
  })

  it.each([{}, { assignment: 'round_robin' }])('never take most of the free times of a host: %o', async (rules) => {
    const { db, hosts, hold, book } = await serve({
      openHours: [{ days: ['monday'], start: '09:00', end: '11:00' }],
      ...rules,
    })
    const clients = Array.from({ length: 24 }, (_, index) => `203.0.113.${index + 1}`)
    const times = ['09:00', '09:30', '10:00', '10:30']
    const outcomes = await Promise.all(clients.map((client, index) => hold(times[index % 4] ?? '', client)))
    const blocks = await db.read.selectFrom('bookingBlocks').select(['hostId', 'ownerId']).execute()
    expect(new Set(blocks.map(({ ownerId }) => ownerId)).size).toBe(
      outcomes.filter((outcome) => outcome === undefined).length,
    )
    for (const host of hosts) {
      const own = blocks.filter(({ hostId }) => hostId === host)
      expect(own.length).toBeGreaterThan(0)
      expect(own.length).toBeLessThanOrEqual(2)
    }
    for (const outcome of outcomes) expect([undefined, 'hold_unavailable', 'slot_unavailable']).toContain(outcome)
    // Guests without a hold can still have the others.
    const booked = await Promise.all(times.map((time) => book(time)))
    expect(booked.filter(({ status }) => status === 201).length).toBeGreaterThanOrEqual(2)
  })

  it('leave the last free time, and the last one of a date with a limit', async () => {
    const single = await serve({ openHours: [{ days: ['monday'], start: '09:00', end: '09:30' }] })
    expect(await single.hold('09:00')).toBe('hold_unavailable')
    expect((await single.book('09:00')).status).toBe(201)
    const limited = await serve({ maximumPerDay: 1 })
    expect(await limited.hold('09:00')).toBe('hold_unavailable')
    await limited.keyedHold('09:00')
    expect(await limited.hold('10:00')).toBe('slot_unavailable')
  })
})
