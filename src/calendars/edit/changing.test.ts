import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  type CalendarAccount,
  day,
  describeEachCalendar,
  openGoogle,
} from '../../../test/kit/calendars/calendar-accounts.ts'
import { fc } from '../../../test/kit/random/random.ts'
import type { CalendarEventView } from '../api.ts'

const ZONE = 'Europe/Berlin'
const at = (offset: number, time = '09:00') => ({ dateTime: `${day(offset)}T${time}:00Z`, timeZone: ZONE })
/** Matches the requests to Google that the API causes. A sync, which may run at any time, only lists changes, without `timeMax`. */
const REQUESTED = /^(POST|PATCH|DELETE) .*\/events|^GET .*\/events(\/|\?.*timeMax=)/
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
    const count = (await account.announced()).length
    const key = { 'idempotency-key': `${provider} lunch` }
    const event = await create(LUNCH, key)
    expect(event).toMatchObject({
      id: expect.stringMatching(/^cev_[^_]+$/),
      accountId: account.id,
      provider,
      version: 1,
      summary: 'Lunch',
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
    expect((await account.announced()).slice(count)).toEqual([`created ${event.id} 1`])
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
        const { recurrence: _recurrence, ...input } = rest
        const zoned = isAllDay
          ? { start: { ...times.start, timeZone: null }, end: { ...times.end, timeZone: null } }
          : times
        expect(created).toMatchObject({ ...input, ...zoned })
        expect(created.recurrence.length).toBe(lines.length)
        expect((await get(created.id)).json).toEqual(created)
        expect((await get(created.id, fresh)).json).toEqual(created)
      }),
      { numRuns: 12 },
    )
    // Sync finds nothing new in any of them.
    const before = await account.announced()
    await account.sync()
    expect(await account.announced()).toEqual(before)
  })

  it('include the instances of a series, by their ids', async () => {
    const series = await create({ ...LUNCH, summary: 'Daily', recurrence: ['RRULE:FREQ=DAILY;COUNT=3'] })
    const id = `${series.id}_${day(3).replaceAll('-', '')}T110000Z`
    const [second] = (await list(`singleEvents=true&timeMin=${day(3)}T00:00:00Z&timeMax=${day(5)}T00:00:00Z`)).filter(
      (event) => event.id === id,
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

  it('are changed in place, and only from the version that the request names', async () => {
    const count = (await account.announced()).length
    const event = await create({ ...LUNCH, attendees: [{ email: 'bob@example.com' }] })
    const path = `${account.events}/${event.id}`
    const changes = {
      location: 'Caf\u00e9',
      start: at(3, '11:00'),
      end: at(3, '13:00'),
      busy: false,
      description: null,
    }
    const changed = await account.api.patch(path, changes, { 'if-match': '"1"' })
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"'])
    expect(changed.json).toMatchObject({
      id: event.id,
      summary: 'Lunch',
      location: 'Caf\u00e9',
      busy: false,
      version: 2,
      start: { dateTime: `${day(3)}T11:00:00.000Z` },
      attendees: [{ email: 'bob@example.com' }],
    })
    expect((await list()).find(({ id }) => id === event.id)).toEqual(changed.json)
    expect((await get(event.id, fresh)).json).toEqual(changed.json)
    const stale = await account.api.patch(path, { summary: 'Late' }, { 'if-match': '"1"' })
    expect([stale.status, stale.json.error.current]).toEqual([409, changed.json])
    expect((await account.api.patch(path, { summary: 'Late' })).json).toMatchObject({ summary: 'Late', version: 3 })
    expect((await account.api.patch(path, {}, {})).json.error.details[0].path).toBe('body')
    expect((await account.api.patch(path, { start: at(9) })).json.error.details[0].path).toBe('body.start')
    expect((await account.api.delete(path)).status).toBe(200)
    for (const gone of [await get(event.id), await account.api.delete(path), await account.api.patch(path, changes)]) {
      expect(gone.status).toBe(404)
    }
    await account.sync()
    const all = ['created 1', 'updated 2', 'updated 3', 'deleted 4']
    expect((await account.announced()).slice(count)).toEqual(all.map((text) => text.replace(' ', ` ${event.id} `)))
  })

  it('are changed for one instance, this and the following ones, or the whole series', async () => {
    const count = (await account.announced()).length
    const series = await create({ ...LUNCH, summary: 'Stand-up', recurrence: ['RRULE:FREQ=DAILY;COUNT=5'] })
    const instance = (id: string, offset: number) => `${id}_${day(offset).replaceAll('-', '')}T110000Z`
    const path = (id: string, offset: number) => `${account.events}/${instance(id, offset)}`
    const shown = async () => {
      const all = await list(`singleEvents=true&timeMin=${day(2)}T00:00:00Z&timeMax=${day(9)}T00:00:00Z`)
      return all.flatMap(({ summary, start }) =>
        /^(Stand-up|One|Later)$/.test(summary) ? [`${summary} ${start.dateTime?.slice(0, 16)}`] : [],
      )
    }
    const changed = await account.api.patch(path(series.id, 3), {
      summary: 'One',
      start: at(3, '15:00'),
      end: at(3, '16:00'),
    })
    expect(changed.json).toMatchObject({ id: instance(series.id, 3), recurringEventId: series.id, version: 2 })
    expect((await get(changed.json.id)).json).toEqual(changed.json)
    expect(await account.api.patch(path(series.id, 4), { recurrence: [] })).toMatchObject({ status: 400 })

    const later = await account.api.patch(`${path(series.id, 5)}?scope=following`, { summary: 'Later' })
    expect(later.json).toMatchObject({ summary: 'Later', version: 1, start: { dateTime: `${day(5)}T11:00:00.000Z` } })
    const days = [`Stand-up ${day(2)}T11:00`, `One ${day(3)}T15:00`, `Stand-up ${day(4)}T11:00`]
    expect(await shown()).toEqual([...days, `Later ${day(5)}T11:00`, `Later ${day(6)}T11:00`])

    expect((await account.api.delete(path(series.id, 4))).status).toBe(200)
    expect((await get(instance(series.id, 4))).status).toBe(404)
    expect((await account.api.delete(`${path(later.json.id, 6)}?scope=following`)).status).toBe(200)
    const left = [`Stand-up ${day(2)}T11:00`, `One ${day(3)}T15:00`, `Later ${day(5)}T11:00`]
    expect(await shown()).toEqual(left)
    await account.sync()
    expect(await shown()).toEqual(left)
    const all = await account.api.patch(`${path(series.id, 2)}?scope=all`, { location: 'Room 4' })
    expect(all.json).toMatchObject({ id: series.id, location: 'Room 4' })
    expect((await account.api.delete(`${path(series.id, 3)}?scope=all`)).status).toBe(200)
    await account.sync()
    expect(await shown()).toEqual([`Later ${day(5)}T11:00`])
    const excluded = provider === 'imap' ? `updated ${series.id} 3` : `deleted ${instance(series.id, 4)} 3`
    const version = provider === 'imap' ? 4 : 3
    expect((await account.announced()).slice(count)).toEqual([
      `created ${series.id} 1`,
      `updated ${instance(series.id, 3)} 2`,
      `updated ${series.id} 2`,
      `created ${later.json.id} 1`,
      excluded,
      `updated ${later.json.id} 2`,
      `updated ${series.id} ${version}`,
      `deleted ${series.id} ${version + 1}`,
    ])
  })

  it('are changed from an instance of an all-day series on', async () => {
    const times = { start: { date: day(10) }, end: { date: day(11) } }
    const series = await create({ ...times, summary: 'Fair', recurrence: ['RRULE:FREQ=DAILY;COUNT=4'] })
    const path = (offset: number) => `${account.events}/${series.id}_${day(offset).replaceAll('-', '')}`
    expect((await account.api.patch(path(11), { summary: 'Fair, second day' })).json.start).toEqual({
      date: day(11),
      timeZone: null,
    })
    const later = await account.api.patch(`${path(12)}?scope=following`, { summary: 'Fair, later' })
    expect(later.json).toMatchObject({ start: { date: day(12) }, end: { date: day(13) }, recurringEventId: null })
    expect((await account.api.delete(path(10))).status).toBe(200)
    const shown = async () => {
      const all = await list(`singleEvents=true&q=fair&timeMin=${day(9)}T00:00:00Z&timeMax=${day(15)}T00:00:00Z`)
      return all.map(({ summary, start }) => `${summary} ${start.date}`)
    }
    const left = [`Fair, second day ${day(11)}`, `Fair, later ${day(12)}`, `Fair, later ${day(13)}`]
    expect(await shown()).toEqual(left)
    await account.sync()
    expect(await shown()).toEqual(left)
  })

  it('are invitations to which the account responds', async () => {
    const count = (await account.announced()).length
    await account.invite('Invited')
    await account.sync()
    const event = (await list()).find(({ summary }) => summary === 'Invited')
    const respond = (id: string | undefined, body: object) => account.api.post(`${account.events}/${id}/respond`, body)
    const accepted = await respond(event?.id, { response: 'accepted', comment: 'See you' })
    expect(accepted.json).toMatchObject({ id: event?.id, version: 2, summary: 'Invited' })
    const ownResponse = ({ attendees }: CalendarEventView) => attendees.find(({ self }) => self)?.responseStatus
    expect(ownResponse(accepted.json)).toBe('accepted')
    expect((await list()).find(({ id }) => id === event?.id)).toEqual(accepted.json)
    const declined = (await respond(event?.id, { response: 'declined' })).json
    expect([ownResponse(declined), declined.version]).toEqual(['declined', 3])
    const isRemoved = provider === 'microsoft'
    expect([declined.status, (await get(event?.id ?? '')).status]).toEqual(
      isRemoved ? ['cancelled', 404] : ['confirmed', 200],
    )
    const own = await create(LUNCH)
    expect((await respond(own.id, { response: 'accepted' })).json.error.code).toBe('not_supported')
    expect((await respond(own.id, { response: 'perhaps' })).json.error.details[0].path).toBe('body.response')
    await account.sync()
    const last = isRemoved ? 'deleted' : 'updated'
    expect((await account.announced()).slice(count)).toEqual([
      `created ${event?.id} 1`,
      `updated ${event?.id} 2`,
      `${last} ${event?.id} 3`,
      `created ${own.id} 1`,
    ])
  })

  it('are refused where the provider cannot do what is asked', async () => {
    const attendees = [{ email: 'bob@example.com' }]
    const silent = await account.api.post(`${account.events}?sendUpdates=none`, { ...LUNCH, attendees })
    expect(silent.status).toBe(provider === 'gmail' ? 200 : 409)
    const bodies: [object, string[]][] = [
      [{ conference: true }, ['gmail', 'microsoft']],
      [{ visibility: 'public' }, ['gmail', 'imap']],
      [{ reminders: [1, 2].map((minutes) => ({ method: 'popup', minutes })) }, ['gmail', 'imap']],
      [{ recurrence: ['RRULE:FREQ=DAILY;COUNT=3', 'RDATE:20261225T110000Z'] }, ['gmail', 'imap']],
    ]
    for (const [body, able] of bodies) {
      const { status, json } = await account.api.post(account.events, { ...LUNCH, ...body })
      const isAble = able.includes(provider)
      expect([body, status, json.error?.code]).toEqual([body, isAble ? 200 : 409, isAble ? undefined : 'not_supported'])
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

  it('end a series once, also when the first attempt failed between both changes', async () => {
    const { json: series } = await post({ ...LUNCH, recurrence: ['RRULE:FREQ=DAILY;COUNT=4'] })
    const following = `${account.events}/${series.id}_${day(4).replaceAll('-', '')}T110000Z?scope=following`
    account.google?.fail({ as: 'server-error', on: /^PATCH / })
    expect((await account.api.patch(following, { summary: 'Later' })).status).toBe(502)
    await account.sync()
    const later = await account.api.patch(following, { summary: 'Later too' })
    expect(later.status).toBe(200)
    const query = `singleEvents=true&timeMin=${day(1)}T00:00:00Z&timeMax=${day(9)}T00:00:00Z`
    const shown = (await account.api.get(`${account.events}?${query}`)).json.events as CalendarEventView[]
    const own = shown.filter(({ recurringEventId }) => recurringEventId !== null)
    expect(own.map(({ summary, start }) => `${summary} ${start.dateTime?.slice(0, 10)}`)).toEqual([
      `Lunch ${day(2)}`,
      `Lunch ${day(3)}`,
      `Later too ${day(4)}`,
      `Later too ${day(5)}`,
    ])
    expect((await account.announced()).filter((text) => text.startsWith('created'))).toEqual([
      `created ${series.id} 1`,
      `created ${later.json.id} 1`,
    ])
  })

  it('do not change what another program changed before, if the request names a version', async () => {
    const { json: series } = await post({ ...LUNCH, summary: 'Series', recurrence: ['RRULE:FREQ=DAILY;COUNT=4'] })
    const { json: single } = await post({ ...LUNCH, summary: 'Single' })
    const { google, user } = account
    const instance = { id: `${series.id}_${day(3).replaceAll('-', '')}T110000Z` }
    for (const id of [single.providerEventId, `${series.providerEventId}_${day(3).replaceAll('-', '')}T110000Z`]) {
      const stored = google?.calendars.get(user, user, id)
      const start = stored?.start ?? at(3, '11:00')
      const ids = id.includes('_') ? { recurringEventId: series.providerEventId, originalStartTime: start } : {}
      google?.calendars.put(user, user, { end: at(3, '12:00'), ...stored, ...ids, id, start, summary: 'Elsewhere' })
    }
    for (const { id } of [single, instance]) {
      const path = `${account.events}/${id}`
      const stale = await account.api.patch(path, { location: 'Here' }, { 'if-match': '"1"' })
      expect([stale.status, stale.json.error.current]).toEqual([409, expect.objectContaining({ summary: 'Elsewhere' })])
      const { status, json } = await account.api.patch(path, { location: 'Here' })
      expect([status, json]).toEqual([200, expect.objectContaining({ summary: 'Elsewhere', location: 'Here' })])
    }
  })

  it('name a scope that the event has', async () => {
    const { json: single } = await post(LUNCH)
    const { json: series } = await post({ ...LUNCH, recurrence: ['RRULE:FREQ=DAILY;COUNT=2'] })
    for (const [id, scope] of [
      [single.id, 'following'],
      [series.id, 'following'],
      [series.id, 'this'],
    ]) {
      const path = `${account.events}/${id}?scope=${scope}`
      for (const { json } of [await account.api.patch(path, { summary: 'x' }), await account.api.delete(path)]) {
        expect(json.error.details?.[0].path).toBe('query.scope')
      }
    }
    expect((await account.api.delete(`${account.events}/${single.id}?scope=all`)).status).toBe(200)
  })

  it.each([
    ['server-error', 502, 'provider_unavailable'],
    ['malformed', 502, 'provider_unavailable'],
    ['unauthorized', 502, 'provider_rejected'],
    ['missing-scope', 409, 'consent_required'],
    // Last, because the account rests after it.
    ['rate-limited', 502, 'provider_unavailable'],
  ] as const)('report a provider that answers with %s', async (fault, status, code) => {
    const { google, api } = account
    const own = `${account.events}/${(await invited(account, fault)).id}`
    const fresh = { 'cache-control': 'no-cache' }
    const requests = {
      list: () => api.get(`${account.events}?timeMax=${day(9)}T00:00:00Z`, fresh),
      get: () => api.get(own, fresh),
      create: () => post(LUNCH),
      update: () => api.patch(own, { summary: 'Other' }),
      respond: () => api.post(`${own}/respond`, { response: 'accepted' }),
      delete: () => api.delete(own),
    }
    for (const [name, request] of Object.entries(requests)) {
      const times = fault === 'unauthorized' ? 2 : 1
      google?.fail({ as: fault, on: REQUESTED, retryAfter: 600, times })
      const { status: shown, json } = await request()
      google?.faults.clear()
      expect([name, shown, json?.error?.code]).toEqual([name, status, code])
    }
  })

  it('need the consent of the user to changes', async () => {
    const reader = await openGoogle({ scopes: ['https://www.googleapis.com/auth/calendar.readonly'] })
    onTestFinished(() => reader.stop())
    const { status, json } = await reader.api.post(reader.events, LUNCH)
    expect([status, json.error.code, json.error.message]).toEqual([
      409,
      'consent_required',
      expect.stringContaining('calendar.events'),
    ])
  })
})

/** An event to which somebody else invites the user. */
async function invited({ api, events, invite, sync }: CalendarAccount, summary: string): Promise<CalendarEventView> {
  await invite(summary)
  await sync()
  const { json } = await api.get(`${events}?q=${summary}`)
  return json.events[0]
}
