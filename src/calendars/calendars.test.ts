import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { describeEachDatabase } from '../../test/kit/database/database.ts'
import { eventually } from '../../test/kit/eventually.ts'
import { startService } from '../../test/kit/service/service.ts'
import { client } from '../../test/scenarios/client.ts'
import { CALENDAR_SCOPES, GOOGLE_SCOPES, type Google, startGoogle } from '../../test/servers/google.ts'
import type { CalendarEventView } from './api.ts'

const ZONE = 'Europe/Berlin'
const DAY_MS = 24 * 60 * 60 * 1000
/** Midnight of this day and others, in UTC. */
const TODAY = Math.floor(Date.now() / DAY_MS) * DAY_MS
const day = (offset: number) => new Date(TODAY + offset * DAY_MS).toISOString().slice(0, 10)
const at = (offset: number, time = '09:00') => ({ dateTime: `${day(offset)}T${time}:00`, timeZone: ZONE })
const single = (id: string, offset: number) => ({ id, summary: id, start: at(offset), end: at(offset, '10:00') })
const daily = (id: string, offset: number, count: number) => ({
  ...single(id, offset),
  recurrence: [`RRULE:FREQ=DAILY;COUNT=${count}`],
})

interface EventList {
  events: CalendarEventView[]
  pagination: { total: number; nextCursor?: string }
  source: string
  syncedAt: string
}

describeEachDatabase('calendars', (open) => {
  let google: Google
  let users = 0
  beforeAll(async () => {
    google = await startGoogle()
  })
  afterAll(() => google.close())

  /** An account whose user has these events in the primary calendar. */
  async function connected(events: readonly object[] = [], scopes = CALENDAR_SCOPES) {
    const place = await open.place()
    const service = await startService({ place, environment: google.settings })
    onTestFinished(() => service.stop())
    const api = client(service.url, service.key)
    users += 1
    const user = `user${users}@gmail.test`
    google.addUser(user)
    for (const event of events) google.calendars.put(user, user, event)
    const { refreshToken } = await google.grant(user, [...GOOGLE_SCOPES, ...scopes])
    const { id } = await api.call<{ id: string }>('POST', '/accounts', { provider: 'gmail', email: user, refreshToken })
    const path = `/accounts/${id}/calendars/primary/events?`
    const list = Object.assign((query = '') => api.call<EventList>('GET', path + query), { path })
    return {
      api,
      id,
      user,
      list,
      place,
      service,
      put: (event: object) => google.calendars.put(user, user, event),
      cancel: (eventId: string) => google.calendars.cancel(user, user, eventId),
      sync: () => api.call('POST', `/accounts/${id}/sync`),
      /** Waits until the first sync has stored everything. */
      async synced() {
        await eventually(async () => expect((await list()).source).toBe('stored'))
      },
      async announced() {
        const { events } = await api.call<{ events: { type: string; data: CalendarEventView }[] }>(
          'GET',
          `/events?accountId=${id}&limit=200`,
        )
        return events.flatMap(({ type, data }) =>
          type.startsWith('calendar.') ? { type: type.split('.')[2], data } : [],
        )
      },
      async status(path: string) {
        const headers = { authorization: `Bearer ${service.key}` }
        const response = await fetch(`${service.url}${path}`, { headers })
        return {
          status: response.status,
          body: (await response.json()) as { error?: { code: string; message: string } },
        }
      },
    }
  }

  it('lists the calendars at once, and the events once they are stored', async () => {
    const { api, id, user, list, synced } = await connected([single('lunch', 1)])
    google.calendars.add(user, { id: 'team@group.calendar.google.com', summary: 'Team', accessRole: 'reader' })
    const { calendars } = await api.call<{ calendars: object[] }>('GET', `/accounts/${id}/calendars`)
    expect(calendars[0]).toMatchObject({
      id: expect.stringMatching(/^cal_/),
      accountId: id,
      provider: 'gmail',
      providerId: user,
      primary: true,
      timeZone: ZONE,
      accessRole: 'owner',
    })
    // The provider is read until the first sync is done.
    expect((await list()).events).toMatchObject([{ providerEventId: 'lunch', summary: 'lunch' }])
    await synced()
    const { events, source, syncedAt } = await list()
    expect(events).toMatchObject([
      {
        id: expect.stringMatching(/^cev_[^_]+$/),
        providerEventId: 'lunch',
        status: 'confirmed',
        version: 1,
        start: { dateTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT0[78]:00:00.000Z$/), timeZone: ZONE },
        recurrence: [],
        recurringEventId: null,
        originalStart: null,
      },
    ])
    expect({ source, age: Date.now() - Date.parse(syncedAt) < 600_000 }).toEqual({ source: 'stored', age: true })
  })

  it('expands series, pages through them, and filters by time and words', async () => {
    const { list, cancel, put, synced } = await connected([
      daily('standup', 1, 30),
      { id: 'holiday', summary: 'Férien', start: { date: day(3) }, end: { date: day(5) } },
      { ...single('moved', 2), recurringEventId: 'standup', id: `standup_never`, summary: 'x' },
    ])
    put({
      id: `standup_${utc(2)}`,
      recurringEventId: 'standup',
      originalStartTime: at(2),
      summary: 'Standup, later',
      start: at(2, '15:00'),
      end: at(2, '15:30'),
    })
    cancel(`standup_${utc(4)}`)
    cancel('standup_never')
    await synced()
    const unexpanded = (await list()).events
    expect(unexpanded.map(({ summary }) => summary).sort()).toEqual(['Férien', 'Standup, later', 'standup'])

    const range = `singleEvents=true&timeMin=${day(1)}T00:00:00Z&timeMax=${day(7)}T00:00:00Z`
    const { events, pagination } = await list(range)
    expect(events.map(({ summary, start }) => `${summary} ${start.date ?? start.dateTime?.slice(0, 10)}`)).toEqual([
      `standup ${day(1)}`,
      `Standup, later ${day(2)}`,
      `Férien ${day(3)}`,
      `standup ${day(3)}`,
      `standup ${day(5)}`,
      `standup ${day(6)}`,
    ])
    expect(pagination.total).toBe(6)
    const [first, moved] = events
    const series = unexpanded.find(({ summary }) => summary === 'standup')?.id ?? ''
    expect(first).toMatchObject({ id: `${series}_${utc(1)}`, recurringEventId: series, recurrence: [] })
    expect(moved).toMatchObject({ id: `${series}_${utc(2)}`, recurringEventId: series })
    expect(events[2]).toMatchObject({ start: { date: day(3), timeZone: null }, end: { date: day(5) } })

    const paged: string[] = []
    for (let cursor = ''; ; ) {
      const page = await list(`${range}&limit=2${cursor}`)
      paged.push(...page.events.map((event) => event.id))
      if (page.pagination.nextCursor === undefined) break
      cursor = `&cursor=${page.pagination.nextCursor}`
    }
    expect(paged).toEqual(events.map((event) => event.id))
    expect((await list('q=ferien')).events).toHaveLength(1)
    expect((await list(`${range}&q=standup+LATER`)).events).toHaveLength(1)
    expect((await list(`${range}&q=100%25`)).events).toHaveLength(0)
  })

  it('reads the provider outside of the stored time, and on request', async () => {
    const { list, synced, put } = await connected([single('old', -400), daily('standup', -402, 3)])
    await synced()
    const range = `timeMin=${day(-410)}T00:00:00Z&timeMax=${day(-390)}T00:00:00Z&singleEvents=true`
    const { events, source, pagination } = await list(range)
    expect({ source, total: pagination.total }).toEqual({ source: 'provider', total: 4 })
    expect(events.map(({ summary }) => summary)).toEqual(expect.arrayContaining(['old', 'standup']))
    const { pagination: half } = await list(`${range}&limit=3`)
    expect((await list(`${range}&limit=3&cursor=${half.nextCursor}`)).events).toHaveLength(1)
    put(single('new', 1))
    const soon = `timeMin=${day(0)}T00:00:00Z&timeMax=${day(3)}T00:00:00Z`
    expect((await list(soon)).events).toHaveLength(0)
    expect((await list('')).events.map(({ summary }) => summary)).toEqual(['standup', 'old'])
  })

  it('gives the instances of a stored series the same ids outside of the stored time', async () => {
    const { list, synced } = await connected([daily('long', -402, 500)])
    await synced()
    const [stored] = (await list('singleEvents=true')).events
    const [prefix, master] = stored?.id.split('_') ?? []
    const range = `timeMin=${day(-410)}T00:00:00Z&timeMax=${day(-390)}T00:00:00Z&singleEvents=true`
    const { events, source } = await list(range)
    expect({ source, some: events.length > 5 }).toEqual({ source: 'provider', some: true })
    for (const { id } of events) expect(id.split('_').slice(0, 2)).toEqual([prefix, master])
  })

  it('announces what changes after the first sync once, also when the sync token expires', async () => {
    const { put, cancel, sync, synced, announced, user } = await connected([single('known', 1), daily('series', 1, 9)])
    await synced()
    put(single('added', 2))
    put(single('known', 3))
    cancel(`series_${utc(2)}`)
    await sync()
    await eventually(async () => expect(await announced()).toHaveLength(3))
    put({ ...single('added', 2), summary: 'renamed' })
    cancel('known')
    put(single('late', 4))
    google.calendars.expireSyncTokens(user)
    await sync()
    await eventually(async () => expect(await announced()).toHaveLength(6))
    await sync()
    const shown = (await announced()).map(({ type, data }) => `${type} ${data.providerEventId} ${data.version}`)
    expect(shown.sort()).toEqual([
      'created added 1',
      'created late 1',
      `deleted known 3`,
      `deleted series_${utc(2)} 2`,
      'updated added 2',
      'updated known 2',
    ])
  })

  it('stores what a larger window covers without events, and reads the provider beyond a smaller one', async () => {
    const { place, id, user, list, put, synced, service } = await connected([
      { ...single('old', -400), created: '2025-01-01T00:00:00.000Z' },
      daily('long', -402, 500),
    ])
    await synced()
    await service.stop()
    const past = `timeMin=${day(-410)}T00:00:00Z&timeMax=${day(-390)}T00:00:00Z&singleEvents=true`
    const restarted = async (window: string) => {
      const environment = { ...google.settings, SYNC_CALENDAR_WINDOW: window }
      const again = await startService({ place, environment })
      onTestFinished(() => again.stop())
      const { call } = client(again.url, again.key)
      return { call, stop: again.stop, list: (query: string) => call<EventList>('GET', list.path + query) }
    }
    const larger = await restarted('14,12')
    // Everything that the answer needs is listed first.
    await eventually(async () => expect((await larger.list(past)).source).toBe('stored'))
    const { events } = await larger.list(past)
    expect(events.filter(({ providerEventId }) => providerEventId === 'old')).toMatchObject([{ version: 1 }])
    expect(events).toHaveLength(13)
    put(single('late', -399))
    await larger.call('POST', `/accounts/${id}/sync`)
    const announced = async () =>
      (await larger.call<{ events: { data: object }[] }>('GET', `/events?accountId=${id}&type=calendar.event.created`))
        .events
    await eventually(async () => expect(await announced()).toMatchObject([{ data: { providerEventId: 'late' } }]))
    await larger.stop()

    const smaller = await restarted('1,12')
    await eventually(async () => expect((await smaller.list(past)).source).toBe('provider'))
    expect((await smaller.list(past)).events).toHaveLength(14)
    expect((await smaller.list('')).source).toBe('stored')
    // Events that ended before the window are not listed again, and were not deleted.
    google.calendars.expireSyncTokens(user)
    put(single('new', 1))
    await smaller.call('POST', `/accounts/${id}/sync`)
    const types = async () =>
      (await smaller.call<{ events: { type: string }[] }>('GET', `/events?accountId=${id}`)).events
        .map(({ type }) => type)
        .filter((type) => type.startsWith('calendar.'))
    await eventually(async () => expect(await types()).toEqual(Array(2).fill('calendar.event.created')))
    await eventually(async () =>
      expect(await smaller.call('GET', `${list.path}q=new`)).toMatchObject({ pagination: { total: 1 } }),
    )
    expect(await types()).toHaveLength(2)
  })

  it('refuses bad input, and accounts that did not grant access', async () => {
    const { id, status } = await connected()
    const events = `/accounts/${id}/calendars/primary/events`
    const problems = {
      'timeMin=2026-11-20': 'query.timeMin',
      'timeMax=2026-11-20T09:00:00': 'query.timeMax',
      'timeMin=2026-11-20T09:00:00Z&timeMax=2026-11-20T09:00:00Z': 'query.timeMax',
      'orderBy=startTime': 'query.orderBy',
      'orderBy=name': 'query.orderBy',
    }
    for (const [query, field] of Object.entries(problems)) {
      const { status: code, body } = await status(`${events}?${query}`)
      expect({ code, names: JSON.stringify(body).includes(field) }, query).toEqual({ code: 400, names: true })
    }
    expect((await status(`/accounts/${id}/calendars/cal_unknown/events`)).status).toBe(404)
    expect((await status('/accounts/acc_unknown/calendars')).status).toBe(404)
    const other = await connected([], [])
    expect(await other.status(`/accounts/${other.id}/calendars`)).toMatchObject({ status: 409 })
  })
})

/** The start of an instance at 9:00 of that day, as in its id. */
function utc(offset: number): string {
  const local = new Date(`${day(offset)}T09:00:00Z`)
  const shown = new Intl.DateTimeFormat('en-US', { timeZone: ZONE, hour: 'numeric', hourCycle: 'h23' }).format(local)
  const hours = 9 - (Number(shown) - 9)
  return `${day(offset).replaceAll('-', '')}T0${hours}0000Z`
}
