import { DateTime } from 'luxon'
import { expect, it, onTestFinished } from 'vitest'
import { experienceWith } from '../../../../test/kit/booking/experience.ts'
import { bookableMinutes } from '../../../../test/kit/booking/slot-oracle.ts'
import { hostCalendars } from '../../../../test/kit/calendars/host-calendars.ts'
import { toCalendarId } from '../../../../test/kit/calendars/stored-calendar.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { fc } from '../../../../test/kit/random/random.ts'
import { CALENDAR_SCOPES, GOOGLE_SCOPES, startGoogle } from '../../../../test/servers/google.ts'
import { fixedClock, systemClock } from '../../../platform/time/clock.ts'
import type { SlotFinder, SlotRequest } from '../../contract.ts'
import type { Experience } from '../../experiences/experience.ts'
import { blockStore } from '../blocks.ts'

const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60
const { signal } = new AbortController()
/** A Monday. */
const at = (text: string) => Date.parse(`2026-11-23T${text}:00Z`)
const formatTime = (ms: number) => new Date(ms).toISOString().slice(11, 19)
const day = { from: at('00:00'), to: at('00:00') + DAY_MINUTES * MINUTE_MS }
const morning = { openHours: [{ days: [1], start: '09:00', end: '11:00' }] }

async function starts(finder: SlotFinder, experience: Experience, over: Partial<SlotRequest> = {}): Promise<string[]> {
  const { slots } = await finder.list(experience, { range: day, durationMinutes: 30, ...over }, signal)
  return slots.map(({ start }) => new Date(start).toISOString().slice(11, 16))
}

describeEachDatabase('built-in slots', (open) => {
  const opened = async () => hostCalendars(await open(), { clock: fixedClock(at('00:00')) })

  it('are listed if and only if they can be booked, with what is stored', async () => {
    const db = await open()
    const clock = fixedClock(Date.UTC(2026, 2, 27))
    const { finder, connectHost, addBusy } = hostCalendars(db, { clock })
    const ids: string[] = []
    for (const name of ['ada', 'bob', 'cid']) ids.push(await connectHost(name))
    // Berlin skips an hour in the middle.
    const [from, to] = [Date.UTC(2026, 2, 28) / MINUTE_MS, Date.UTC(2026, 2, 30) / MINUTE_MS]
    const minute = fc.integer({ min: 0, max: to - from }).map((offset) => from + offset)
    const range = fc.record({ from: minute, length: fc.integer({ min: 5, max: 300 }) })
    const host = fc.record({
      busy: fc.array(range, { maxLength: 3 }),
      blocks: fc.array(
        fc.record({ range, buffer: fc.integer({ min: 0, max: 60 }), isOwn: fc.boolean(), isExpired: fc.boolean() }),
        { maxLength: 4 },
      ),
    })
    let run = 0
    const property = fc.asyncProperty(
      fc.tuple(host, host, host),
      fc.constantFrom('collective' as const, 'round_robin' as const),
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 1, max: 3 }),
      fc.array(minute, { minLength: 5, maxLength: 5 }),
      async (rules, assignment, buffer, maximumPerDay, samples) => {
        run += 1
        const availability = {
          openHours: [{ days: [0, 1, 6], start: '08:00', end: '20:00' }],
          assignment,
          bufferBeforeMinutes: buffer,
          maximumPerDay,
        }
        const experience = experienceWith(availability, { id: `exp_${run}`, hosts: ids })
        const hosts = rules.map(({ busy, blocks }, index) => {
          const living = blocks.filter(({ isExpired }) => !isExpired)
          const own = living.filter(({ isOwn }) => isOwn).map(({ range }) => dateIn('Europe/Berlin', range.from))
          return {
            hostId: ids[index] ?? '',
            busy: busy.map(({ from, length }) => ({ from, to: from + length })),
            blocks: living.map(({ range, buffer }) => ({
              start: range.from,
              end: range.from + range.length,
              before: buffer,
              after: buffer,
            })),
            fullDates: own.filter((date) => own.filter((other) => other === date).length >= maximumPerDay),
          }
        })
        await db.transaction(async (tx) => {
          await tx.deleteFrom('calendarInstances').execute()
          await tx.deleteFrom('bookingBlocks').execute()
          for (const [index, { blocks }] of rules.entries()) {
            for (const [number, { range, buffer, isOwn, isExpired }] of blocks.entries()) {
              const buffers = { bufferBeforeMinutes: buffer, bufferAfterMinutes: buffer }
              const slot = { start: range.from * MINUTE_MS, end: (range.from + range.length) * MINUTE_MS }
              const owner = { id: `bkg_${index}_${number}`, hostIds: [ids[index] ?? ''] }
              const expiresAt = isExpired ? clock.now() : null
              const of = experienceWith(buffers, isOwn ? { id: experience.id } : { id: 'exp_other' })
              await blockStore(tx).insert(of, slot, { ...owner, expiresAt })
            }
          }
        })
        for (const { hostId, busy } of hosts) {
          const ranges = busy.map(({ from, to }) => ({ from: from * MINUTE_MS, to: to * MINUTE_MS }))
          await addBusy(toCalendarId(hostId), ranges)
        }
        const question = { availability, timezone: 'Europe/Berlin', hosts, from, to, now: clock.now() / MINUTE_MS }
        const expected = bookableMinutes({ ...question, length: 30, step: 15 })
        const { slots } = await finder.list(
          experience,
          { range: { from: from * MINUTE_MS, to: to * MINUTE_MS }, durationMinutes: 30, intervalMinutes: 15 },
          signal,
        )
        expect(slots.map(({ start }) => start / MINUTE_MS)).toEqual([...expected.keys()])
        const bookable = bookableMinutes({ ...question, length: 30, step: undefined })
        const listed = [...expected.keys()].filter((_, index) => index % 9 === 0)
        for (const minute of [...listed, ...samples]) {
          const checked = await finder.check(experience, { start: minute * MINUTE_MS }, { signal }).catch(errorCode)
          const hosts = minute + 30 > to ? undefined : bookable.get(minute)
          if (typeof checked === 'string') expect([checked, hosts]).toEqual(['slot_unavailable', undefined])
          else expect([...checked.candidates].sort()).toEqual([...(hosts ?? [])].sort())
        }
      },
    )
    await fc.assert(property, { numRuns: 8 })
  })

  it('show who takes part, when they expire, and in which zone', async () => {
    const { finder, connectHost } = await opened()
    const id = await connectHost('ada')
    const experience = experienceWith(morning, { timezone: 'UTC', hosts: [id] })
    const request = { range: day, durationMinutes: 60, timezone: 'Asia/Tokyo' }
    expect(await finder.list(experience, request, signal)).toEqual({
      slots: [at('09:00'), at('10:00')].map((start) => ({
        start,
        end: start + 60 * MINUTE_MS,
        timezone: 'Asia/Tokyo',
        participants: [id],
        metadata: {},
      })),
      generatedAt: '2026-11-23T00:00:00.000Z',
      expiresAt: '2026-11-23T00:05:00.000Z',
      timezone: 'Asia/Tokyo',
    })
    expect(await finder.check(experience, { start: at('09:00') }, { signal })).toEqual({
      slot: { start: at('09:00'), end: at('09:30'), timezone: 'UTC', participants: [id], metadata: {} },
      take: 'every',
      candidates: [id],
    })
    const alone = experienceWith({ ...morning, assignment: 'round_robin' }, { id: 'exp_alone', timezone: 'UTC' })
    expect(await finder.check(alone, { start: at('09:30') }, { signal })).toMatchObject({
      slot: { participants: [] },
      take: 'every',
      candidates: ['exp_alone'],
    })
    await expect(finder.check(alone, { start: at('11:00') }, { signal })).rejects.toThrow('no longer available')
  })

  it('do not count the booking that is moved, nor its events', async () => {
    const db = await open()
    const { finder, connectHost, addBusy } = hostCalendars(db, { clock: fixedClock(at('00:00')) })
    const id = await connectHost('ada')
    const experience = experienceWith({ ...morning, maximumPerDay: 1 }, { timezone: 'UTC', hosts: [id] })
    const slot = { start: at('09:00'), end: at('09:30') }
    const [eventId = ''] = await addBusy(toCalendarId(id), [{ from: slot.start, to: slot.end }])
    await db.transaction(async (tx) => {
      await blockStore(tx).insert(experience, slot, { id: 'bkg_1', hostIds: [id], expiresAt: null })
      const event = { bookingId: 'bkg_1', hostId: id, calendarId: toCalendarId(id), eventId }
      await tx.insertInto('bookingEvents').values(event).execute()
    })
    expect(await starts(finder, experience)).toEqual([])
    const move = (except: string) =>
      finder.check(experience, { start: at('09:15') }, { except, signal }).then(() => 'free', errorCode)
    expect([await move('bkg_1'), await move('bkg_2')]).toEqual(['free', 'slot_unavailable'])
    await addBusy(toCalendarId(id), [{ from: at('09:40'), to: at('09:41') }])
    expect(await move('bkg_1')).toBe('slot_unavailable')
  })

  it('need hosts whose calendars can be read', async () => {
    const db = await open()
    const clock = fixedClock(at('00:00'))
    const { finder, accounts, log, connect, connectHost } = hostCalendars(db, { clock })
    const [ada, refused] = [await connectHost('ada'), await connectHost('bob')]
    // Its server cannot be reached.
    const stale = await connectHost('cid', at('00:00') - 61 * MINUTE_MS)
    await db.transaction((tx) => accounts.setStatus(tx, refused, 'auth_error', 'Wrong password'))
    const of = (hosts: string[], assignment: 'collective' | 'round_robin') =>
      starts(finder, experienceWith({ ...morning, assignment }, { timezone: 'UTC', hosts })).catch(
        (error: Error) => `${errorCode(error)} ${error.message}`,
      )
    const all = ['09:00', '09:30', '10:00', '10:30']
    expect(await of([ada], 'collective')).toEqual(all)
    // Guests receive the message; the log has the reason.
    const message = 'Cannot read the calendar of a host at the moment. The log of the service names the account.'
    for (const other of [refused, 'acc_gone', stale]) {
      expect(await of([ada, other], 'collective')).toBe(`provider_unavailable ${message}`)
    }
    expect(await of([refused, ada, 'acc_gone', stale], 'round_robin')).toEqual(all)
    const warned = log.entries.filter(({ level }) => level === 'warn').map(({ metadata }) => metadata?.unreadable)
    const reasons = ['the provider refused its credentials', 'there is no such account', 'cannot reach example.com']
    const named = [refused, 'acc_gone', stale].map((id, index) => `${id} (${reasons[index]})`)
    expect(warned).toEqual([...named.map((text) => [text]), named])
    expect(await of([refused, 'acc_gone'], 'round_robin')).toBe(`provider_unavailable ${message}`)
    // A mail account without calendars is never busy.
    const plain = await connect({ email: 'dot@mail.invalid', providerUser: 'dot' })
    expect(await of([plain], 'collective')).toEqual(all)
  })

  it('have the free hosts of a round robin as candidates', async () => {
    const { finder, connectHost, addBusy } = hostCalendars(await open(), { clock: fixedClock(at('00:00')) })
    const ids: string[] = []
    for (const name of ['ada', 'bob', 'cid']) ids.push(await connectHost(name))
    const experience = experienceWith({ ...morning, assignment: 'round_robin' }, { timezone: 'UTC', hosts: ids })
    const check = async () => {
      const { take, candidates } = await finder.check(experience, { start: at('10:00') }, { signal })
      return [take, ...candidates.map((id) => ids.indexOf(id))]
    }
    expect(await check()).toEqual(['one', 0, 1, 2])
    await addBusy(toCalendarId(ids[2] ?? ''), [{ from: at('10:00'), to: at('10:01') }])
    expect(await check()).toEqual(['one', 0, 1])
  })

  it('may last and begin at any number of minutes, in whole seconds', async () => {
    const { finder } = await opened()
    const list = async (availability: object, request: Partial<SlotRequest>) => {
      const experience = experienceWith({ ...morning, ...availability }, { timezone: 'UTC' })
      const { slots } = await finder.list(experience, { range: day, durationMinutes: 30, ...request }, signal)
      for (const { start, end } of slots.slice(0, 3)) {
        expect(await finder.check(experience, { start, end }, { signal })).toMatchObject({ slot: { start, end } })
      }
      return slots.slice(0, 3).map(({ start, end }) => [formatTime(start), (end - start) / 1000])
    }
    expect(await list({}, { durationMinutes: 7.5 })).toEqual([
      ['09:00:00', 450],
      ['09:07:30', 450],
      ['09:15:00', 450],
    ])
    expect((await list({}, { intervalMinutes: 7.5 })).map(([start]) => start)).toEqual([
      '09:00:00',
      '09:07:30',
      '09:15:00',
    ])
    expect((await list({ durationMinutes: 7.333 }, { durationMinutes: 7.333 }))[1]).toEqual(['09:07:20', 440])
    expect(await list({ durations: [7.5, 15] }, { durationMinutes: 7.5 })).toHaveLength(3)
    expect(await list({ intervalMinutes: 7.5 }, { intervalMinutes: 22.5 })).toHaveLength(3)
  })

  it('may last for days; what does not fit into a list is not in it', async () => {
    const { finder } = await opened()
    const always = { openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }] }
    const experience = experienceWith(always, { timezone: 'UTC' })
    const week = { from: day.from, to: day.from + 7 * DAY_MINUTES * MINUTE_MS }
    const list = async (durationMinutes: number, over: Partial<SlotRequest> = {}) =>
      (await finder.list(experience, { range: week, durationMinutes, ...over }, signal)).slots.length
    expect(await list(2 * DAY_MINUTES, { intervalMinutes: DAY_MINUTES })).toBe(6)
    expect(await list(8 * DAY_MINUTES)).toBe(0)
    expect(await list(30, { intervalMinutes: 1e9 })).toBe(7)
    for (const endless of [1e6, 1e20, Number.MAX_VALUE]) expect(await list(endless)).toBe(0)
    expect(await list(30, { intervalMinutes: Number.MAX_VALUE })).toBe(7)
    const end = day.from + 100_000 * DAY_MINUTES * MINUTE_MS
    const checked = finder.check(experience, { start: day.from, end }, { signal })
    expect(await checked.catch(errorCode)).toBe('slot_unavailable')
  })

  it('refuse lengths and intervals that the experience does not allow', async () => {
    const { finder } = await opened()
    const list = (availability: object, request: Partial<SlotRequest>) =>
      starts(finder, experienceWith({ ...morning, ...availability }, { timezone: 'UTC' }), request).catch(errorPath)
    expect(await list({ durationMinutes: 30 }, { durationMinutes: 45 })).toBe('body.durationMinutes')
    expect(await list({ durations: [15, 60] }, {})).toBe('body.durationMinutes')
    expect(await list({ durations: [15, 60] }, { durationMinutes: 60 })).toEqual(['09:00', '10:00'])
    expect(await list({}, { durationMinutes: 45 })).toEqual(['09:00', '09:45'])
    expect(await list({ intervalMinutes: 20 }, {})).toEqual(['09:00', '09:20', '09:40', '10:00', '10:20'])
    expect(await list({ intervalMinutes: 20 }, { intervalMinutes: 40 })).toEqual(['09:00', '09:40', '10:20'])
    expect(await list({ intervalMinutes: 20 }, { intervalMinutes: 30 })).toBe('body.intervalMinutes')
    expect(await list({}, { timezone: 'Mars/Olympus' })).toBe('body.timezone')
    const check = (availability: object, choice: { start: number; end?: number; timezone?: string }) =>
      finder.check(experienceWith({ ...morning, ...availability }, { timezone: 'UTC' }), choice, { signal }).then(
        ({ slot }) => (slot.end - slot.start) / MINUTE_MS,
        (error) => errorPath(error) ?? errorCode(error),
      )
    const start = at('09:00')
    expect(await check({ durations: [20, 45] }, { start })).toBe(20)
    expect(await check({ durations: [20, 45] }, { start, end: at('09:45') })).toBe(45)
    expect(await check({ durations: [20, 45] }, { start, end: at('09:30') })).toBe('body.slot.end')
    expect(await check({}, { start, end: start })).toBe('body.slot.end')
    expect(await check({}, { start, end: start + 1 + 30 * MINUTE_MS })).toBe('body.slot.end')
    expect(await check({}, { start, timezone: 'Mars/Olympus' })).toBe('body.slot.timezone')
    expect(await check({ intervalMinutes: 20 }, { start: at('09:30') })).toBe('slot_unavailable')
    expect(await check({}, { start: at('09:04') })).toBe('slot_unavailable')
    expect(await check({}, { start: at('09:07') })).toBe(30)
    expect(await check({}, { start: 8.64e15 })).toBe('slot_unavailable')
    expect(await check({}, { start: -8.64e15 })).toBe('slot_unavailable')
  })
})

describeEachDatabase('busy times that a provider is asked for', (open) => {
  it('are unknown, with the reason, where they cannot be read', async () => {
    const db = await open()
    const google = await startGoogle()
    onTestFinished(() => google.close())
    const user = 'ada@gmail.test'
    google.addUser(user)
    const event = (id: string, start: string, end: string) =>
      google.calendars.put(user, user, {
        id,
        start: { dateTime: `2026-11-23T${start}:00Z` },
        end: { dateTime: `2026-11-23T${end}:00Z` },
      })
    event('own', '09:00', '10:00')
    event('other', '11:00', '12:00')
    const { readBusy, connect } = hostCalendars(db, {
      clock: systemClock,
      environment: google.settings,
    })
    const scopes = [...GOOGLE_SCOPES, ...CALENDAR_SCOPES]
    const { accessToken, refreshToken } = await google.grant(user, scopes)
    const tokens = { accessToken, refreshToken, expiresAt: Date.now() + 60 * MINUTE_MS, scopes }
    const id = await connect({ provider: 'gmail', email: user, providerUser: user, settings: {}, secrets: {}, tokens })
    const busy = async () => (await readBusy([id], day, { floatingZone: 'UTC', signal })).get(id)
    const [own, other] = [
      { from: at('09:00'), to: at('10:00') },
      { from: at('11:00'), to: at('12:00') },
    ]
    expect(await busy()).toEqual({ busy: [own, other] })
    google.fail({ as: 'rate-limited', on: /freeBusy/, user, times: 9 })
    expect(await busy()).toEqual({ reason: expect.stringMatching(/^the provider is busy: /) })
    google.faults.clear()
    const weak = await connect({
      provider: 'gmail',
      email: user,
      providerUser: 'weak',
      settings: {},
      secrets: {},
      tokens: { ...tokens, scopes: GOOGLE_SCOPES },
    })
    const found = await readBusy([weak, id], day, { floatingZone: 'UTC', signal })
    expect(found.get(weak)).toEqual({ reason: 'its user did not grant access to the calendars' })
    expect(found.get(id)).toHaveProperty('busy')
  })

  it('end with the request', async () => {
    const { readBusy, connectHost } = hostCalendars(await open(), { clock: fixedClock(Date.now()) })
    const id = await connectHost('ada')
    await expect(
      readBusy([id], day, { floatingZone: 'UTC', signal: AbortSignal.abort(new Error('gone')) }),
    ).rejects.toThrow('gone')
  })
})

function dateIn(zone: string, minute: number): string {
  return DateTime.fromMillis(minute * MINUTE_MS, { zone }).toISODate() ?? ''
}

function errorCode(error: unknown): string {
  return String((error as { code?: unknown }).code)
}

function errorPath(error: unknown): string | undefined {
  return (error as { details?: { path: string }[] }).details?.[0]?.path
}
