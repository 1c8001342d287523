import { afterEach, beforeEach, expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { describeOneDatabase, type Place } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { type Api, api } from '../../../test/kit/http/http.ts'
import { type Service, startService } from '../../../test/kit/service/service.ts'
import { CALENDAR_SCOPES, GOOGLE_SCOPES, type Google, startGoogle } from '../../../test/servers/google.ts'
import {
  MICROSOFT_SCOPES,
  type Microsoft,
  OUTLOOK_CALENDAR_SCOPES,
  startMicrosoft,
} from '../../../test/servers/microsoft.ts'
import { openSqlite } from '../../platform/db/index.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { calendarSubscriptionStore } from './store.ts'

const PUBLIC_URL = 'https://posthorn.test/base'
const GOOGLE_PATH = '/providers/gmail/notifications'
const ADA = 'ada@gmail.test'
const BOB = 'bob@example.test'
const TEAM = 'team@group.calendar.google.com'
const HOLIDAYS = 'de.german#holiday'
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 19)
const meeting = (summary: string) => {
  const time = { dateTime: inDays(2), timeZone: 'UTC' }
  return { id: 'meeting', summary, subject: summary, start: time, end: { ...time, dateTime: inDays(3) } }
}

/** Polls are a minute apart at least, so that what is announced in time was notified. */
describeOneDatabase('push for calendars', 'sqlite', (open) => {
  let google: Google
  let microsoft: Microsoft
  let service: Service
  let owner: Api
  let place: Place
  beforeEach(async () => {
    ;[google, microsoft] = await Promise.all([startGoogle(), startMicrosoft()])
    google.addUser(ADA)
    microsoft.addUser(BOB)
  })
  afterEach(async () => {
    await service?.stop()
    await Promise.all([google?.close(), microsoft?.close()])
  })

  async function start(publicUrl = PUBLIC_URL, clock = systemClock): Promise<void> {
    const environment = { ...google.settings, ...microsoft.settings, PUBLIC_URL: publicUrl }
    place = await open.place()
    service = await startService({ place, environment, clock })
    owner = api(service.url, service.key)
    google.calendars.channels.route(publicUrl, service.url)
    microsoft.subscriptions.route(publicUrl, service.url)
  }

  async function connect(provider: 'gmail' | 'microsoft'): Promise<string> {
    const [email, site, scopes] =
      provider === 'gmail'
        ? [ADA, google, [...GOOGLE_SCOPES, ...CALENDAR_SCOPES]]
        : [BOB, microsoft, [...MICROSOFT_SCOPES, ...OUTLOOK_CALENDAR_SCOPES]]
    const { refreshToken } = await site.grant(email, scopes)
    const { json } = await owner.post('/accounts', { provider, email, refreshToken })
    return json.id
  }

  const eventSubscriptions = () => microsoft.subscriptions.of(BOB).filter(({ resource }) => /events$/.test(resource))
  const reads = (calendar: string) =>
    google.calls.all.filter(({ path }) => path.includes(`/calendars/${encodeURIComponent(calendar)}/events?`)).length
  const watched = (...calendars: string[]) =>
    eventually(() => expect(google.calendars.channels.of(ADA).sort()).toEqual(calendars.sort()))

  /** Until nothing is requested any more. */
  async function quiet(): Promise<void> {
    await Promise.all([google.calendars.channels.flush(), microsoft.subscriptions.flush()])
    const total = () => google.calls.total({ user: ADA }) + microsoft.calls.total({ user: BOB })
    let last = { total: -1, at: 0 }
    await eventually(() => {
      if (total() !== last.total) last = { total: total(), at: performance.now() }
      return performance.now() - last.at > 1500
    })
  }

  async function announced(id: string, ...types: string[]): Promise<void> {
    await eventually(async () => {
      const { events } = (await owner.get(`/events?accountId=${id}&limit=200`)).json
      const calendar = events.filter(({ type }: { type: string }) => type.startsWith('calendar.'))
      expect(calendar.map(({ type }: { type: string }) => type).reverse()).toEqual(
        types.map((type) => `calendar.event.${type}`),
      )
    })
  }

  it('reads calendars whose notification was lost when their old busy times are asked for', async () => {
    let laterMs = 0
    const clock = {
      ...systemClock,
      now: () => systemClock.now() + laterMs,
      monotonic: () => systemClock.monotonic() + laterMs,
    }
    await start(PUBLIC_URL, clock)
    const id = await connect('gmail')
    await watched(ADA)
    await quiet()
    google.calendars.channels.route(PUBLIC_URL, 'http://127.0.0.1:9')
    google.calendars.put(ADA, ADA, meeting('Planning'))
    const look = async () => {
      const startTime = new Date(clock.now()).toISOString()
      const endTime = new Date(clock.now() + 3_600_000).toISOString()
      expect((await owner.post(`/accounts/${id}/availability`, { startTime, endTime })).status).toBe(200)
    }
    const before = reads(ADA)
    await look()
    await quiet()
    expect(reads(ADA)).toBe(before)
    laterMs = 61_000
    await look()
    await announced(id, 'created')
  })

  it('announces a change at Google at once, and reads only the calendar that changed', async () => {
    google.calendars.add(ADA, { id: TEAM })
    google.calendars.add(ADA, { id: HOLIDAYS, accessRole: 'reader' })
    await start()
    const id = await connect('gmail')
    await watched(ADA, TEAM)
    await quiet()
    const before = reads(ADA)
    expect(before).toBeGreaterThan(0)
    google.calendars.put(ADA, TEAM, meeting('Planning'))
    await announced(id, 'created')
    google.calendars.cancel(ADA, TEAM, 'meeting')
    await announced(id, 'created', 'deleted')
    expect(reads(ADA)).toBe(before)
    const messages = google.calendars.channels.sent
    expect(messages.length).toBeGreaterThanOrEqual(4)
    expect(new Set(messages.map(({ status }) => status))).toEqual(new Set([202]))
  })

  it('announces a change at Graph at once, after a missed notification, and after the subscription was removed', async () => {
    await start()
    const id = await connect('microsoft')
    await eventually(() => expect(eventSubscriptions()).toHaveLength(1))
    await quiet()
    microsoft.calendars.put(BOB, 'calendar', meeting('Planning'))
    await announced(id, 'created')
    await quiet()
    microsoft.subscriptions.enabled = false
    microsoft.calendars.put(BOB, 'calendar', meeting('Planning, later'))
    await microsoft.lifecycle(BOB, 'missed')
    await announced(id, 'created', 'updated')
    microsoft.subscriptions.enabled = true
    const [first] = eventSubscriptions()
    await microsoft.lifecycle(BOB, 'subscriptionRemoved')
    await eventually(() => {
      const [second] = eventSubscriptions()
      expect(second?.id).toBeDefined()
      expect(second?.id).not.toBe(first?.id)
    })
    await quiet()
    microsoft.calendars.put(BOB, 'calendar', meeting('Planning, even later'))
    await announced(id, 'created', 'updated', 'updated')
  })

  it('ignores what Google and Microsoft did not send', async () => {
    await start()
    await connect('gmail')
    await connect('microsoft')
    await watched(ADA)
    await eventually(() => expect(eventSubscriptions()).toHaveLength(1))
    await quiet()
    const [message] = google.calendars.channels.sent
    const [subscription] = eventSubscriptions()
    const requests = () => google.calls.total({ user: ADA }) + microsoft.calls.total({ user: BOB })
    const before = requests()
    const stranger = api(service.url)
    const headers = { ...message?.headers, 'x-goog-resource-state': 'exists' }
    for (const forged of [
      { ...headers, 'x-goog-channel-token': 'x'.repeat(43) },
      { ...headers, 'x-goog-resource-id': 'other' },
      { 'x-goog-channel-id': 'unknown', 'x-goog-channel-token': 'x' },
      {},
    ]) {
      expect((await stranger.post(GOOGLE_PATH, undefined, forged)).status).toBe(202)
    }
    const value = [{ subscriptionId: subscription?.id, clientState: 'x'.repeat(43) }, { subscriptionId: 'unknown' }]
    expect((await stranger.post('/providers/microsoft/notifications', { value })).status).toBe(202)
    expect((await stranger.post(GOOGLE_PATH, 'x'.repeat(300_000), { 'content-type': 'text/plain' })).status).toBe(413)
    expect((await stranger.get(GOOGLE_PATH)).status).toBe(405)
    await quiet()
    expect(requests()).toBe(before)
    // The same message with the right token, as JSON without a body.
    expect((await stranger.post(GOOGLE_PATH, '', { ...headers, 'content-type': 'application/json' })).status).toBe(202)
    await eventually(() => expect(requests()).toBeGreaterThan(before))
  })

  it('ends with the account, and while the account is not watched', async () => {
    await start()
    const id = await connect('gmail')
    await connect('microsoft')
    await watched(ADA)
    await owner.patch(`/accounts/${id}`, { watch: false })
    await watched()
    await owner.patch(`/accounts/${id}`, { watch: true })
    await watched(ADA)
    await eventually(() => expect(eventSubscriptions()).toHaveLength(1))
    const { accounts } = (await owner.get('/accounts')).json
    for (const account of accounts) await owner.delete(`/accounts/${account.id}`)
    await watched()
    await eventually(() => expect(eventSubscriptions()).toEqual([]))
  })

  it('finds a notified change whose hint was lost', async () => {
    await start()
    const id = await connect('gmail')
    await watched(ADA)
    await quiet()
    google.calendars.channels.route(PUBLIC_URL, 'http://127.0.0.1:9')
    google.calendars.put(ADA, ADA, meeting('Planning'))
    const file = `${place.dataDir}/posthorn.db`
    const db = closing(openSqlite({ file, synchronous: 'NORMAL', onSlowStatement: () => {} }))
    await db.transaction(async (tx) => {
      for (const row of await calendarSubscriptionStore(tx).of(id)) await calendarSubscriptionStore(tx).setNotified(row)
    })
    await announced(id, 'created')
  })

  it('is replaced by polling where the providers cannot reach the service', async () => {
    await start('http://posthorn.test')
    const id = await connect('gmail')
    await eventually(async () => {
      const { json } = await owner.get(`/accounts/${id}/calendars/primary/events`)
      expect(json.source).toBe('stored')
    })
    await quiet()
    expect(google.calls.counts()[`POST /calendar/v3/calendars/{calendarId}/events/watch`]).toBeUndefined()
    google.calendars.put(ADA, ADA, meeting('Planning'))
    await owner.post(`/accounts/${id}/sync`)
    await announced(id, 'created')
  })
})
