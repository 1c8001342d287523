import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../test/kit/eventually.ts'
import { startService } from '../../test/kit/service/service.ts'
import { client } from '../../test/scenarios/client.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../test/servers/dovecot.ts'
import { type Radicale, radicaleAvailable, startRadicale } from '../../test/servers/radicale.ts'
import { icsObject } from '../../test/servers/radicale-calendar.ts'
import type { EventTime } from '../providers/contract/index.ts'

const USER = 'ada@posthorn.test'
const PASSWORD = 'correct horse'
const tomorrow = new Date(Date.now() + 24 * 60 * 60 * 1000).toISOString().slice(0, 10)
const at = (time: string) => ({ dateTime: `${tomorrow}T${time}:00`, timeZone: 'Europe/Berlin' })
const object = (summary: string, start = '09:00') =>
  icsObject([{ summary, start: at(start), end: at('12:00') }], { uid: 'planning' })

describe.skipIf(!dovecotAvailable() || !radicaleAvailable())('the calendars of an imap account', () => {
  let mailServer: Dovecot
  let calendarServer: Radicale
  beforeAll(async () => {
    ;[mailServer, calendarServer] = await Promise.all([startDovecot(), startRadicale()])
    await mailServer.addUser(USER, PASSWORD)
    await calendarServer.addUser(USER, PASSWORD)
  })
  afterAll(() => Promise.all([mailServer?.stop(), calendarServer?.stop()]))

  async function connected(more: object = {}) {
    const service = await startService()
    onTestFinished(() => service.stop())
    const api = client(service.url, service.key)
    const { id } = await api.call<{ id: string }>('POST', '/accounts', {
      provider: 'imap',
      email: USER,
      username: USER,
      password: PASSWORD,
      host: mailServer.host,
      port: mailServer.imapsPort,
      secure: true,
      allowSelfSigned: true,
      ...more,
    })
    return { api, id }
  }

  it('are read from the CalDAV server of the account, and their changes announced', async () => {
    const path = await calendarServer.makeCalendar(USER, 'work')
    await calendarServer.request(USER, 'PUT', `${path}planning.ics`, object('Planning'))
    const { api, id } = await connected({ caldavUrl: calendarServer.url })
    const { calendars } = await api.call<{ calendars: { id: string }[] }>('GET', `/accounts/${id}/calendars`)
    expect(calendars).toMatchObject([{ provider: 'imap', providerId: path, summary: 'work', primary: true }])
    const list = `/accounts/${id}/calendars/${calendars[0]?.id}/events`
    await eventually(async () => {
      const stored = await api.call('GET', list)
      expect(stored).toMatchObject({ source: 'stored', events: [{ summary: 'Planning', iCalUID: 'planning' }] })
    })
    await calendarServer.request(USER, 'PUT', `${path}planning.ics`, object('Planning moved', '10:00'))
    await api.call('POST', `/accounts/${id}/sync`)
    await eventually(async () => {
      const { events } = await api.call<{ events: object[] }>(
        'GET',
        `/events?accountId=${id}&type=calendar.event.updated`,
      )
      expect(events).toMatchObject([{ data: { summary: 'Planning moved', version: 2 } }])
    })
  })

  it('go on while others are deleted and made', async () => {
    const [first, second] = [
      await calendarServer.makeCalendar(USER, 'a-first'),
      await calendarServer.makeCalendar(USER, 'b-second'),
    ]
    await calendarServer.request(USER, 'PUT', `${first}gone.ics`, object('Goes with its calendar'))
    const { api, id } = await connected({ caldavUrl: calendarServer.url })
    const listed = async (query = '') => {
      const { calendars } = await api.call<{ calendars: { id: string; providerId: string }[] }>(
        'GET',
        `/accounts/${id}/calendars${query}`,
      )
      return calendars
    }
    const calendar = (await listed()).find(({ providerId }) => providerId === second)
    const list = `/accounts/${id}/calendars/${calendar?.id}/events`
    await eventually(async () => expect(await api.call('GET', list)).toMatchObject({ source: 'stored' }))
    await calendarServer.request(USER, 'DELETE', first)
    await calendarServer.request(USER, 'PUT', `${second}stays.ics`, object('Stays'))
    await api.call('POST', `/accounts/${id}/sync`)
    await eventually(async () => {
      expect(await api.call('GET', list)).toMatchObject({ source: 'stored', events: [{ summary: 'Stays' }] })
    })
    await eventually(async () => {
      expect((await listed()).map(({ providerId }) => providerId)).not.toContain(first)
    })
    const third = await calendarServer.makeCalendar(USER, 'c-third')
    expect((await listed('?refresh=true')).map(({ providerId }) => providerId)).toContain(third)
    for (const path of [second, third]) await calendarServer.request(USER, 'DELETE', path)
  })

  it('may have two exceptions for one instance', async () => {
    const path = await calendarServer.makeCalendar(USER, 'odd')
    const exception = (summary: string, originalStart: EventTime) => ({
      summary,
      originalStart,
      start: at('09:00'),
      end: at('10:00'),
    })
    const utc = new Date(Date.parse(`${tomorrow}T08:00:00Z`)).toISOString().slice(0, 19)
    const series = [
      { summary: 'Daily', start: at('09:00'), end: at('10:00'), recurrence: ['RRULE:FREQ=DAILY;COUNT=3'] },
      exception('Local', at('09:00')),
      exception('UTC', { dateTime: utc, timeZone: 'UTC' }),
    ]
    await calendarServer.request(USER, 'PUT', `${path}series.ics`, icsObject(series, { uid: 'series' }))
    const { api, id } = await connected({ caldavUrl: calendarServer.url })
    await eventually(async () => {
      const list = `/accounts/${id}/calendars/${encodeURIComponent(path)}/events?singleEvents=true`
      const { source, events } = await api.call<{ source: string; events: object[] }>('GET', list)
      expect({ source, count: events.length >= 3 }).toEqual({ source: 'stored', count: true })
    })
  })

  it('are none without a CalDAV server', async () => {
    const { api, id } = await connected()
    expect(await api.call('GET', `/accounts/${id}/calendars`)).toMatchObject({
      calendars: [],
      pagination: { total: 0 },
    })
  })
})
