import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { describeOneDatabase } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { type Api, api } from '../../../test/kit/http/http.ts'
import { type Service, startService } from '../../../test/kit/service/service.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { CALENDAR_SCOPES, GOOGLE_SCOPES, type Google, startGoogle } from '../../../test/servers/google.ts'
import {
  MICROSOFT_SCOPES,
  type Microsoft,
  OUTLOOK_CALENDAR_SCOPES,
  startMicrosoft,
} from '../../../test/servers/microsoft.ts'
import { type Radicale, radicaleAvailable, startRadicale } from '../../../test/servers/radicale.ts'
import { icsObject } from '../../../test/servers/radicale-calendar.ts'
import { findZone } from '../../platform/calendar/zone.ts'
import type { AvailabilityView } from './api.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const TODAY = Math.floor(Date.now() / DAY_MS) * DAY_MS
const day = (offset: number) => new Date(TODAY + offset * DAY_MS).toISOString().slice(0, 10)
const utc = (offset: number, time: string) => ({ dateTime: `${day(offset)}T${time}:00`, timeZone: 'UTC' })
const hour = (offset: number, begin: string) => ({
  start: utc(offset, `${begin}:00`),
  end: utc(offset, `${String(Number(begin) + 1).padStart(2, '0')}:00`),
})
const days = (from: number, to: number, intervalMinutes = 60) => ({
  startTime: `${day(from)}T00:00:00Z`,
  endTime: `${day(to)}T00:00:00Z`,
  intervalMinutes,
})

/** `day hour` of each slot in which the participant is not available. */
function blocked({ slots }: AvailabilityView, participant: string): string[] {
  return slots.flatMap(({ start, participants, participantAvailability }) => {
    const state = participantAvailability[participant]
    expect(participants.includes(participant)).toBe(state === 'available')
    return state === 'available' ? [] : `${start.slice(8, 13)}${state === 'busy' ? '' : ` ${state}`}`
  })
}
const at = (offset: number, time: string) => `${day(offset).slice(8)}T${time}`

async function find(owner: Api, id: string, body: object, headers = {}): Promise<AvailabilityView> {
  const { status, json } = await owner.post(`/accounts/${id}/availability`, body, headers)
  expect([status, json.error]).toEqual([200, undefined])
  return json
}

async function stored(owner: Api, id: string): Promise<void> {
  await eventually(async () => {
    const { json } = await owner.get(`/accounts/${id}/calendars/primary/events`)
    expect(json.source).toBe('stored')
  })
}

describeOneDatabase('availability', 'sqlite', (open) => {
  let google: Google
  let microsoft: Microsoft
  let service: Service
  let owner: Api
  let users = 0
  beforeAll(async () => {
    ;[google, microsoft] = await Promise.all([startGoogle(), startMicrosoft()])
    const environment = { ...google.settings, ...microsoft.settings }
    service = await startService({ place: await open.place(), environment })
    owner = api(service.url, service.key)
  })
  afterAll(async () => {
    await service?.stop()
    await Promise.all([google?.close(), microsoft?.close()])
  })

  async function googleAccount(events: readonly object[], scopes = CALENDAR_SCOPES) {
    users += 1
    const user = `user${users}@gmail.test`
    google.addUser(user)
    for (const event of events) google.calendars.put(user, user, event)
    const { refreshToken } = await google.grant(user, [...GOOGLE_SCOPES, ...scopes])
    const { json } = await owner.post('/accounts', { provider: 'gmail', email: user, refreshToken })
    return { user, id: json.id as string }
  }

  async function outlookAccount(events: readonly Parameters<Microsoft['calendars']['put']>[2][]) {
    users += 1
    const user = `user${users}@example.test`
    microsoft.addUser(user)
    for (const event of events) microsoft.calendars.put(user, 'calendar', event)
    const { refreshToken } = await microsoft.grant(user, [...MICROSOFT_SCOPES, ...OUTLOOK_CALENDAR_SCOPES])
    const { json } = await owner.post('/accounts', { provider: 'microsoft', email: user, refreshToken })
    return { user, id: json.id as string }
  }

  it('is blocked by what takes time: from stored events, and the same from the provider', async () => {
    const { user, id } = await googleAccount([
      { id: 'meeting', ...hour(2, '09') },
      { id: 'maybe', status: 'tentative', ...hour(2, '11') },
      { id: 'free', transparency: 'transparent', ...hour(2, '12') },
      { id: 'gone', ...hour(2, '13') },
      { id: 'series', ...hour(2, '15'), recurrence: ['RRULE:FREQ=DAILY;COUNT=2'] },
      { id: 'fair', start: { date: day(4) }, end: { date: day(5) } },
    ])
    google.calendars.cancel(user, user, 'gone')
    await stored(owner, id)
    const view = await find(owner, id, { ...days(2, 6), participants: [user] })
    const midnight = findZone('Europe/Berlin')?.toUtc(TODAY + 4 * DAY_MS) ?? 0
    const fair = Array.from({ length: 24 }, (_, hours) =>
      new Date(midnight + hours * 3_600_000).toISOString().slice(8, 13),
    )
    const expected = [at(2, '09'), at(2, '11'), at(2, '15'), at(3, '15'), ...fair]
    expect(blocked(view, user)).toEqual(expected)
    expect(view).toMatchObject({
      timeZone: 'Europe/Berlin',
      sources: [{ participant: user, source: 'stored', reason: null }],
    })
    const fresh = await find(owner, id, { ...days(2, 6), participants: [user] }, { 'cache-control': 'no-cache' })
    expect(blocked(fresh, user)).toEqual(expected)
    expect(fresh.sources).toMatchObject([{ source: 'provider' }])
  })

  it('is not blocked by declined invitations, and follows a moved instance', async () => {
    const attendee = (responseStatus: string) => ({ attendees: [{ email: 'x', self: true, responseStatus }] })
    const { user, id } = await googleAccount([
      { id: 'declined', ...hour(2, '09'), ...attendee('declined') },
      { id: 'open', ...hour(2, '10'), ...attendee('needsAction') },
      { id: 'series', ...hour(2, '15'), recurrence: ['RRULE:FREQ=DAILY;COUNT=3'] },
    ])
    google.calendars.put(user, user, {
      id: 'series_moved',
      recurringEventId: 'series',
      originalStartTime: utc(3, '15:00'),
      ...hour(3, '20'),
    })
    await stored(owner, id)
    const view = await find(owner, id, { ...days(2, 5), timeZone: 'Asia/Tokyo' })
    expect(blocked(view, id)).toEqual([at(2, '10'), at(2, '15'), at(3, '20'), at(4, '15')])
    expect(view.timeZone).toBe('Asia/Tokyo')
    // A slot that only touches an event is available, one that overlaps a minute of it is not.
    const odd = { startTime: `${day(2)}T09:30:00Z`, endTime: `${day(2)}T12:00:00Z`, intervalMinutes: 30 }
    expect(
      (await find(owner, id, odd)).slots.map(({ start, participants }) => [start.slice(11, 16), participants.length]),
    ).toEqual([
      ['09:30', 1],
      ['10:00', 0],
      ['10:30', 0],
      ['11:00', 1],
      ['11:30', 1],
    ])
  })

  it('asks the provider about times that are not stored, where a day may have 25 hours', async () => {
    const { id } = await googleAccount([{ id: 'holiday', start: { date: '2025-10-26' }, end: { date: '2025-10-27' } }])
    await stored(owner, id)
    const range = { startTime: '2025-10-25T21:00:00Z', endTime: '2025-10-27T00:00:00Z', intervalMinutes: 60 }
    const view = await find(owner, id, range)
    expect(view.sources).toMatchObject([{ source: 'provider' }])
    const busy = blocked(view, id)
    expect([busy.length, busy[0], busy.at(-1)]).toEqual([25, '25T22', '26T22'])
  })

  it('combines accounts, calendars and people of several providers, and says what is unknown', async () => {
    const ada = await googleAccount([{ id: 'one', ...hour(2, '09') }])
    const team = `team${users}@group.calendar.google.com`
    google.calendars.add(ada.user, { id: team, summary: 'Team', accessRole: 'reader' })
    google.calendars.put(ada.user, team, { id: 'all', ...hour(2, '14') })
    google.calendars.add(ada.user, { id: 'own', summary: 'Own', accessRole: 'owner', selected: true })
    google.calendars.put(ada.user, 'own', { id: 'private', ...hour(2, '16') })
    const zone = { originalStartTimeZone: 'UTC' }
    const bob = await outlookAccount([
      { id: 'two', ...hour(2, '10'), ...zone },
      { id: 'leave', ...hour(2, '11'), ...zone, showAs: 'workingElsewhere' },
    ])
    const colleague = 'colleague@example.test'
    microsoft.addUser(colleague)
    microsoft.calendars.put(colleague, 'calendar', { id: 'three', ...hour(2, '12'), ...zone })
    for (const { id } of [ada, bob]) await stored(owner, id)
    const { json } = await owner.get(`/accounts/${ada.id}/calendars`)
    const calendar = json.calendars.find(({ summary }: { summary: string }) => summary === 'Team').id
    const participants = [ada.id, bob.user.toUpperCase(), calendar, colleague, 'nobody@nowhere.example', 'acc_unknown']
    const view = await find(owner, bob.id, { ...days(2, 3), participants })
    expect(participants.map((participant) => blocked(view, participant).slice(0, 2))).toEqual([
      [at(2, '09'), at(2, '16')],
      [at(2, '10')],
      [at(2, '14')],
      [at(2, '12')],
      [at(2, '00 unknown'), at(2, '01 unknown')],
      [at(2, '00 unknown'), at(2, '01 unknown')],
    ])
    expect(view.sources.map(({ source, reason }) => reason ?? source)).toEqual([
      'stored',
      'stored',
      'stored',
      'provider',
      'not_found',
      'not_found',
    ])

    // Another account's failure is no answer; this account's own is an error.
    google.fail({ as: 'missing-scope', on: /freeBusy/, user: ada.user, times: 2 })
    const fresh = { 'cache-control': 'no-cache' }
    const partial = await find(owner, bob.id, { ...days(2, 3), participants: [ada.id, bob.id] }, fresh)
    expect(partial.sources.map(({ source, reason }) => reason ?? source)).toEqual(['unavailable', 'provider'])
    const failed = await owner.post(`/accounts/${ada.id}/availability`, days(2, 3), fresh)
    expect([failed.status, failed.json.error.code]).toEqual([409, 'consent_required'])
  })

  it('reports each failure of the provider', async () => {
    const { id, user } = await googleAccount([])
    await stored(owner, id)
    const failures = [
      ['unauthorized', 502, 'provider_rejected'],
      ['rate-limited', 502, 'provider_unavailable'],
      ['server-error', 502, 'provider_unavailable'],
      ['html', 502, 'provider_unavailable'],
      ['missing-scope', 409, 'consent_required'],
    ] as const
    for (const [as, status, code] of failures) {
      google.fail({ as, on: /freeBusy/, user, times: 9 })
      const response = await owner.post(`/accounts/${id}/availability`, days(-400, -399))
      expect([as, response.status, response.json.error?.code]).toEqual([as, status, code])
      google.faults.clear()
    }
  })

  it('refuses bad input, unknown accounts and missing permissions', async () => {
    const { id } = await googleAccount([])
    const path = `/accounts/${id}/availability`
    const range = days(1, 2)
    const problems: [field: string, body: object][] = [
      ['body.startTime', { endTime: range.endTime }],
      ['body.startTime', { ...range, startTime: day(1) }],
      ['body.endTime', { ...range, endTime: `${day(2)}T00:00:00` }],
      ['body.endTime', { ...range, endTime: range.startTime }],
      ['body.endTime', days(1, 64)],
      ['body.intervalMinutes', { ...range, intervalMinutes: 4 }],
      ['body.intervalMinutes', { ...days(1, 60, 5), participants: ['a@x.example', 'b@x.example'] }],
      ['body.participants', { ...range, participants: [] }],
      ['body.participants', { ...range, participants: ['a@x.example', 'a@x.example'] }],
      ['body.participants', { ...range, participants: Array.from({ length: 51 }, (_, at) => `a${at}@x.example`) }],
      ['body.timeZone', { ...range, timeZone: 'Mars/Olympus' }],
    ]
    for (const [field, body] of problems) {
      const { status, json } = await owner.post(path, body)
      expect([status, json.error.details[0].path], JSON.stringify(body)).toEqual([400, field])
    }
    expect((await owner.post('/accounts/acc_unknown/availability', range)).status).toBe(404)
    expect((await api(service.url).post(path, range)).status).toBe(401)
    const other = await googleAccount([], [])
    expect((await owner.post(`/accounts/${other.id}/availability`, range)).json.error.code).toBe('consent_required')
  })
})

describe.skipIf(!dovecotAvailable() || !radicaleAvailable())('availability over CalDAV', () => {
  const USER = 'ada@posthorn.test'
  let dovecot: Dovecot
  let radicale: Radicale
  beforeAll(async () => {
    ;[dovecot, radicale] = await Promise.all([startDovecot(), startRadicale()])
    await dovecot.addUser(USER, 'secret')
    await radicale.addUser(USER, 'secret')
  })
  afterAll(() => Promise.all([dovecot?.stop(), radicale?.stop()]))

  it('comes from the events of the account; nothing is known about others', async () => {
    const work = await radicale.makeCalendar(USER, 'work')
    const home = await radicale.makeCalendar(USER, 'home')
    const put = (path: string, uid: string, event: Parameters<typeof icsObject>[0][number]) =>
      radicale.request(USER, 'PUT', `${path}${uid}.ics`, icsObject([event], { uid }))
    const daily = { summary: 'Daily', ...hour(-400, '09'), recurrence: ['RRULE:FREQ=DAILY;COUNT=500'] }
    await put(work, 'daily', daily)
    await put(home, 'dinner', { summary: 'Dinner', ...hour(2, '19') })
    const service = await startService()
    onTestFinished(() => service.stop())
    const owner = api(service.url, service.key)
    const account = { provider: 'imap', email: USER, username: USER, password: 'secret', caldavUrl: radicale.url }
    const server = { host: dovecot.host, port: dovecot.imapsPort, secure: true, allowSelfSigned: true }
    const { id } = (await owner.post('/accounts', { ...account, ...server })).json
    await stored(owner, id)
    const body = { ...days(2, 3), participants: [USER, 'bob@posthorn.test'] }
    await eventually(async () => expect((await find(owner, id, body)).sources[0]?.source).toBe('stored'))
    const view = await find(owner, id, body)
    expect(blocked(view, USER)).toEqual([at(2, '09'), at(2, '19')])
    expect(view.sources[1]).toMatchObject({ participant: 'bob@posthorn.test', source: null, reason: 'unavailable' })
    const past = await find(owner, id, days(-399, -397))
    expect(blocked(past, id)).toEqual([at(-399, '09'), at(-398, '09')])
    await radicale.removeUser(USER)
    const failed = await owner.post(`/accounts/${id}/availability`, days(-399, -398))
    expect([failed.status, failed.json.error.code]).toEqual([502, 'provider_rejected'])
  })
})
