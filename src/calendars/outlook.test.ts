import { expect, it, onTestFinished } from 'vitest'
import { describeOneDatabase } from '../../test/kit/database/database.ts'
import { eventually } from '../../test/kit/eventually.ts'
import { startService } from '../../test/kit/service/service.ts'
import { client } from '../../test/scenarios/client.ts'
import { MICROSOFT_SCOPES, OUTLOOK_CALENDAR_SCOPES, startMicrosoft } from '../../test/servers/microsoft.ts'
import type { CalendarEventView } from './api.ts'

const USER = 'ada@example.test'
const DAY_MS = 24 * 60 * 60 * 1000
const TODAY = Math.floor(Date.now() / DAY_MS) * DAY_MS
const day = (offset: number) => new Date(TODAY + offset * DAY_MS).toISOString().slice(0, 10)
const hour = (offset: number, begin: string) => ({
  start: at(offset, `${begin}:00`),
  end: at(offset, `${begin}:30`),
  originalStartTimeZone: 'UTC',
})
const zoned = (offset: number, time: string) => ({ dateTime: `${day(offset)}T${time}:00Z`, timeZone: 'UTC' })
const at = (offset: number, time: string) => ({ dateTime: `${day(offset)}T${time}:00`, timeZone: 'UTC' })

describeOneDatabase('Outlook calendars', 'sqlite', (open) => {
  it('keep the id of an instance that is changed, cancelled and announced', async () => {
    const graph = await startMicrosoft()
    onTestFinished(() => graph.close())
    const service = await startService({ place: await open.place(), environment: graph.settings })
    onTestFinished(() => service.stop())
    const api = client(service.url, service.key)
    graph.addUser(USER)
    const daily = { pattern: { type: 'daily', interval: 1 }, range: { type: 'noEnd', startDate: day(1) } } as const
    const series = { id: 'series', subject: 'Standup', ...hour(1, '09'), recurrence: daily }
    graph.calendars.put(USER, 'calendar', series)
    graph.calendars.putException(USER, 'series', day(2), hour(2, '15'))
    const { refreshToken } = await graph.grant(USER, [...MICROSOFT_SCOPES, ...OUTLOOK_CALENDAR_SCOPES])
    const account = { provider: 'microsoft', email: USER, refreshToken }
    const { id } = await api.call<{ id: string }>('POST', '/accounts', account)
    const list = () =>
      api.call<{ events: CalendarEventView[]; source: string }>(
        'GET',
        `/accounts/${id}/calendars/primary/events?singleEvents=true&timeMin=${day(1)}T00:00:00Z&timeMax=${day(4)}T00:00:00Z`,
      )
    await eventually(async () => expect((await list()).source).toBe('stored'))
    const before = (await list()).events
    expect(before.map(({ start }) => start.dateTime?.slice(0, 16))).toEqual([
      `${day(1)}T09:00`,
      `${day(2)}T15:00`,
      `${day(3)}T09:00`,
    ])

    graph.calendars.cancelOccurrence(USER, 'series', day(2))
    await api.call('POST', `/accounts/${id}/sync`)
    const announced = async () => {
      const { events } = await api.call<{ events: { type: string; data: CalendarEventView }[] }>(
        'GET',
        `/events?accountId=${id}&limit=200`,
      )
      return events.filter(({ type }) => type.startsWith('calendar.')).map(({ type, data }) => `${type} ${data.id}`)
    }
    await eventually(async () => expect(await announced()).toEqual([`calendar.event.deleted ${before[1]?.id}`]))
    expect((await list()).events.map(({ id }) => id)).toEqual([before[0]?.id, before[2]?.id])

    const meeting = { summary: 'Call', start: zoned(2, '12:00'), end: zoned(2, '12:30'), conference: true }
    const create = () => api.call('POST', `/accounts/${id}/calendars/primary/events`, meeting)
    expect(await create()).not.toHaveProperty('warnings')
    graph.calendars.personal = true
    expect(await create()).toMatchObject({
      joinUrl: null,
      warnings: [expect.stringContaining('created no video conference')],
    })
  })
})
