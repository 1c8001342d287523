import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type CalendarAccount, day, describeEachCalendar, openGoogle } from '../../../../test/kit/calendar-accounts.ts'
import { fc } from '../../../../test/kit/random.ts'
import type { CalendarEventView } from '../api.ts'

const ZONE = 'Europe/Berlin'
const at = (offset: number, time = '09:00') => ({ dateTime: `${day(offset)}T${time}:00Z`, timeZone: ZONE })
const LUNCH = { summary: 'Lunch', start: at(2, '11:00'), end: at(2, '12:00') }

describeEachCalendar('events through the API', (provider, open) => {
  let account: CalendarAccount
  beforeAll(async () => {
    account = await open()
  })
  afterAll(() => account?.stop())

  async function create(body: object, headers: Record<string, string> = {}): Promise<CalendarEventView> {
    const { status, json } = await account.api.post(account.events, body, headers)
    expect([status, json]).toEqual([200, expect.anything()])
    return json
  }
  const get = async (id: string, headers: Record<string, string> = {}) =>
    account.api.get(`${account.events}/${encodeURIComponent(id)}`, headers)
  const list = async (query = ''): Promise<CalendarEventView[]> =>
    (await account.api.get(`${account.events}?limit=200&${query}`)).json.events
  const fresh = { 'cache-control': 'no-cache' }

  it('are created once, listed at once, and announced once', async () => {
    const known = (await account.announced()).length
    const key = { 'idempotency-key': `${provider} lunch` }
    const event = await create(LUNCH, key)
    expect(event).toMatchObject({
      ...{ id: expect.stringMatching(/^cev_[^_]+$/), accountId: account.id, provider, version: 1, summary: 'Lunch' },
      start: { dateTime: `${day(2)}T11:00:00.000Z`, timeZone: ZONE },
      end: { dateTime: `${day(2)}T12:00:00.000Z`, timeZone: ZONE },
    })
    expect((await list()).find(({ id }) => id === event.id)).toEqual(event)
    const read = await get(event.id)
    expect([read.json, read.headers.get('etag')]).toEqual([event, '"1"'])
    expect((await get(event.id, fresh)).json).toEqual(event)
    expect((await get(event.providerEventId)).json).toEqual(event)
    expect(await create(LUNCH, key)).toEqual(event)
    await account.sync()
    expect((await account.announced()).slice(known)).toEqual([`created ${event.id} 1`])
    expect((await get(event.id)).json).toEqual(event)
  })

  it('are read back as they were created', async () => {
    const words = fc.array(
      fc.constantFrom('a', '\u00eb', ';', ',', '\\n', '"', '<b>', '&amp;', '\u{1F4C5}', 'END:VEVENT'),
      {
        maxLength: 6,
      },
    )
    const text = words.map((parts) => ['x', ...parts, 'z'].join(' '))
    const recurrence = fc.constantFrom(
      [],
      ['RRULE:FREQ=DAILY;COUNT=3'],
      ['RRULE:FREQ=DAILY;INTERVAL=2'],
      ['RRULE:FREQ=WEEKLY;COUNT=4'],
      [`RRULE:FREQ=WEEKLY;UNTIL=${day(40).replaceAll('-', '')}`],
    )
    const event = fc.record({
      summary: text,
      description: text,
      location: text,
      isAllDay: fc.boolean(),
      offset: fc.integer({ min: 1, max: 300 }),
      minutes: fc.integer({ min: 1, max: 3000 }),
      zone: fc.constantFrom('UTC', ZONE, 'America/New_York', 'Asia/Kolkata'),
      recurrence,
      busy: fc.boolean(),
      visibility: fc.constantFrom('default', 'private'),
      reminders: fc.constantFrom([], [{ method: 'popup', minutes: 25 }]),
    })
    await fc.assert(
      fc.asyncProperty(event, async ({ isAllDay, offset, minutes, zone, ...rest }) => {
        const startMs = Date.parse(`${day(offset)}T03:00:00Z`)
        const iso = (ms: number) => new Date(ms).toISOString()
        const times = isAllDay
          ? { start: { date: day(offset) }, end: { date: day(offset + 1 + (minutes % 3)) } }
          : {
              start: { dateTime: iso(startMs), timeZone: zone },
              end: { dateTime: iso(startMs + minutes * 60_000), timeZone: zone },
            }
        const lines = rest.recurrence.map((line) =>
          isAllDay ? line : line.replace(/UNTIL=(\d{8})/, 'UNTIL=$1T030000Z'),
        )
        const created = await create({ ...rest, ...times, recurrence: lines })
        const { recurrence: _recurrence, ...given } = rest
        const zoned = isAllDay
          ? { start: { ...times.start, timeZone: null }, end: { ...times.end, timeZone: null } }
          : times
        expect(created).toMatchObject({ ...given, ...zoned })
        expect(created.recurrence.length).toBe(lines.length)
        expect((await get(created.id)).json).toEqual(created)
        expect((await get(created.id, fresh)).json).toEqual(created)
      }),
      { numRuns: 12 },
    )
    // Sync finds nothing new in any of them.
    const known = await account.announced()
    await account.sync()
    expect(await account.announced()).toEqual(known)
  })

  it('include the instances of a series, by their ids', async () => {
    const series = await create({ ...LUNCH, summary: 'Daily', recurrence: ['RRULE:FREQ=DAILY;COUNT=3'] })
    const id = `${series.id}_${day(3).replaceAll('-', '')}T110000Z`
    const [second] = (await list(`singleEvents=true&timeMin=${day(3)}T00:00:00Z&timeMax=${day(5)}T00:00:00Z`)).filter(
      (one) => one.id === id,
    )
    expect((await get(id)).json).toEqual(second)
    expect((await get(id, fresh)).json).toMatchObject({ id, start: second?.start, recurringEventId: series.id })
    for (const unknown of [
      `${series.id}_${day(9).replaceAll('-', '')}T110000Z`,
      `${series.id}_${day(3).replaceAll('-', '')}`,
      'cev_unknown',
      'unknown',
    ]) {
      expect([unknown, (await get(unknown)).status]).toEqual([unknown, 404])
    }
  })
})

describe('requests for calendar events', () => {
  let account: CalendarAccount
  beforeAll(async () => {
    account = await openGoogle({
      prepare: (google, user) =>
        google.calendars.add(user, { id: 'holidays', accessRole: 'reader', summary: 'Holidays' }),
    })
  })
  afterAll(() => account?.stop())
  const post = (body: object, path = account.events) => account.api.post(path, body)

  it('are refused with bad input, naming the field', async () => {
    const { status, json } = await post({ ...LUNCH, end: at(2, '10:00'), attendees: [{ email: 'nobody' }] })
    expect(status).toBe(400)
    const paths = json.error.details.map(({ path }: { path: string }) => path)
    expect(paths).toEqual(['body.end', 'body.attendees.0.email'])
    const tooMany = Array.from({ length: 201 }, (_, index) => ({ email: `a${index}@example.com` }))
    const problems: [string, object][] = [
      ['body.end', { ...LUNCH, end: undefined }],
      ['body.attendees', { ...LUNCH, attendees: tooMany }],
      ['body.summary', { ...LUNCH, summary: 'x'.repeat(1025) }],
      ['body.reminders.0.minutes', { ...LUNCH, reminders: [{ method: 'popup', minutes: 0.5 }] }],
      ['body.visibility', { ...LUNCH, visibility: 'secret' }],
    ]
    for (const [path, body] of problems) {
      expect((await post(body)).json.error.details[0].path).toBe(path)
    }
    expect((await post(LUNCH, `${account.events}?sendUpdates=some`)).json.error.details[0].path).toBe(
      'query.sendUpdates',
    )
    expect((await post(LUNCH, account.events.replace('primary', 'unknown'))).status).toBe(404)
  })

  it('are refused for a calendar that may only be read', async () => {
    const { status, json } = await post(LUNCH, account.events.replace('primary', 'holidays'))
    expect([status, json.error]).toEqual([409, expect.objectContaining({ code: 'not_supported' })])
    expect(json.error.message).toContain('"Holidays"')
  })

  it('need the consent of the user to changes', async () => {
    const reader = await openGoogle({ scopes: ['https://www.googleapis.com/auth/calendar.readonly'] })
    onTestFinished(() => reader.stop())
    const { status, json } = await reader.api.post(reader.events, LUNCH)
    expect([status, json.error.code, json.error.message]).toEqual([
      ...[409, 'consent_required', expect.stringContaining('calendar.events')],
    ])
  })
})
