import { describe, expect, it } from 'vitest'
import {
  OBJECT,
  objectData,
  objectsAsked,
  scriptedDavCalendar,
} from '../../../test/kit/calendars/scripted-dav-calendar.ts'
import { type DavCall, type DavReply, multistatus } from '../../../test/servers/dav-server.ts'
import { icsObject } from '../../../test/servers/radicale-calendar.ts'
import type { CalendarAccount, EventStep } from '../contract/index.ts'

const RANGE = { from: Date.parse('2026-11-01T00:00:00Z'), to: Date.parse('2026-12-01T00:00:00Z') }
const ETAG = '<D:getetag>"1"</D:getetag>'
/** A series whose first instance ended long before the range. */
const WEEKLY = icsObject(
  [
    {
      summary: 'Planning',
      start: { dateTime: '2026-01-05T09:00:00', timeZone: 'UTC' },
      end: { dateTime: '2026-01-05T10:00:00', timeZone: 'UTC' },
      recurrence: ['RRULE:FREQ=WEEKLY'],
    },
  ],
  { uid: 'weekly' },
)

const path = (name: string) => `/home/c/${name}.ics`
const asksForData = ({ body }: DavCall) => body.includes('calendar-query') && body.includes('calendar-data')
const asksForEtags = ({ body }: DavCall) => body.includes('calendar-query') && !body.includes('calendar-data')
const asksByPath = ({ body }: DavCall) => body.includes('calendar-multiget')

async function idsInRange(account: CalendarAccount, range = RANGE): Promise<string[]> {
  const { signal } = new AbortController()
  const events = await account.readRange({ calendarId: '/home/c/', range, expand: false, signal })
  return events.map(({ eventId }) => eventId).sort()
}

async function firstSync(account: CalendarAccount): Promise<EventStep[]> {
  const { signal } = new AbortController()
  const steps: EventStep[] = []
  const request = { calendarId: '/home/c/', cursor: null, window: RANGE, signal }
  for await (const step of account.syncEvents(request)) steps.push(step)
  return steps
}

describe('a range of a CalDAV calendar', () => {
  it('is read with one request, and by path only where the list came without an object', async () => {
    const { account, calls } = await scriptedDavCalendar((call) =>
      asksForData(call) ? multistatus({ [path('a')]: objectData(WEEKLY), [path('b')]: ETAG }) : undefined,
    )
    expect(await idsInRange(account)).toEqual([path('a'), path('b')])
    const asked = calls.filter(asksByPath)
    expect(asked).toHaveLength(1)
    expect(asked[0]?.body).toContain(path('b'))
    expect(asked[0]?.body).not.toContain(path('a'))
  })

  it('is listed in halves where the server cuts off a list', async () => {
    const readDays = (body: string) =>
      [...body.matchAll(/(?:start|end)="(\d{8})/g)].map(([, day = '']) => day).join('-')
    const { account, calls } = await scriptedDavCalendar((call) => {
      if (asksForData(call)) return multistatus({ [path('a')]: objectData(WEEKLY), '/home/c/': 507 })
      if (!asksForEtags(call) || call.body.includes('RRULE') || call.body.includes('RDATE')) return undefined
      const days = readDays(call.body)
      if (days === '20261031-20261202') return multistatus({ [path('a')]: ETAG, '/home/c/': 507 })
      return multistatus({ [path(days)]: ETAG })
    })
    expect(await idsInRange(account)).toEqual([path('20261031-20261116'), path('20261116-20261202'), path('a')])
    expect(calls.filter(asksByPath).some(({ body }) => body.includes(path('a')))).toBe(false)
  })

  it('is never complete where the server cuts off every list', async () => {
    const { account, calls } = await scriptedDavCalendar(({ body }) =>
      body.includes('calendar-query') ? multistatus({ [path('a')]: ETAG, '/home/c/': 507 }) : undefined,
    )
    await expect(idsInRange(account)).rejects.toMatchObject({ kind: 'limit_exceeded' })
    await expect(firstSync(account)).rejects.toMatchObject({ kind: 'limit_exceeded' })
    expect(calls.length).toBeLessThan(250)
  })

  it.each([{ status: 500 }, { status: 403 }, { endless: 'x'.repeat(64 * 1024) }])(
    'is listed, from then on at once, where the server cannot send objects with a list: %o',
    async (failure: DavReply) => {
      const { account, calls } = await scriptedDavCalendar((call) => (asksForData(call) ? failure : undefined))
      expect(await idsInRange(account)).toEqual([path('1')])
      expect(await idsInRange(account)).toEqual([path('1')])
      expect(calls.filter(asksForData)).toHaveLength(1)
    },
  )

  it.each([401, 404, 429])('is not asked for again after a refusal of another kind: %i', async (status) => {
    const { account, calls } = await scriptedDavCalendar((call) => (asksForData(call) ? { status } : undefined))
    await expect(idsInRange(account)).rejects.toThrow('reading events')
    expect(calls.filter(asksForEtags)).toEqual([])
  })

  it('keeps an object that the server fails to send as unreadable, and does not take it for gone', async () => {
    const { account } = await scriptedDavCalendar((call) => {
      if (asksForData(call))
        return multistatus({ [path('a')]: objectData(OBJECT), [path('b')]: ETAG, [path('c')]: ETAG })
      if (asksForEtags(call)) return multistatus({})
      return asksByPath(call) ? multistatus({ [path('b')]: 500, [path('c')]: 404 }) : undefined
    })
    const steps = await firstSync(account)
    expect(steps.flatMap(({ found }) => found.map(({ eventId }) => eventId))).toEqual([path('a')])
    expect(steps.flatMap(({ unreadable = [] }) => unreadable)).toEqual([
      { eventId: path('b'), reason: 'The CalDAV server answered 500.' },
    ])
    expect(steps.flatMap(({ removed }) => removed)).toEqual([path('c')])
  })

  it('asks again for what a response leaves out, as long as that brings anything', async () => {
    const all = Array.from({ length: 7 }, (_, at) => path(String(at)))
    const { account, calls } = await scriptedDavCalendar((call) => {
      if (call.body.includes('calendar-query')) return multistatus(Object.fromEntries(all.map((each) => [each, ETAG])))
      if (!asksByPath(call)) return undefined
      const hrefs = [...call.body.matchAll(/<D:href>([^<]+)</g)].map(([, href = '']) => href)
      const sent = hrefs.slice(0, 3).filter((href) => href !== path('6'))
      return multistatus(Object.fromEntries(sent.map((href) => [href, objectData(OBJECT)])))
    })
    expect(await idsInRange(account)).toEqual(all.slice(0, 6))
    expect(calls.filter(asksByPath).length).toBeLessThan(10)
  })

  it('ends with an error where the server leaves out objects again and again', async () => {
    const all = Array.from({ length: 400 }, (_, at) => path(String(at)))
    const { account, calls } = await scriptedDavCalendar((call) => {
      if (call.body.includes('calendar-query')) return multistatus(Object.fromEntries(all.map((each) => [each, ETAG])))
      const first = asksByPath(call) ? /<D:href>([^<]+)</.exec(call.body)?.[1] : undefined
      return first === undefined ? undefined : multistatus({ [first]: objectData(OBJECT) })
    })
    await expect(idsInRange(account)).rejects.toMatchObject({ kind: 'unavailable' })
    expect(calls.length).toBeLessThan(130)
  })

  it('is unreadable where the server lists an object and never sends it', async () => {
    const { account } = await scriptedDavCalendar((call) => {
      if (asksForEtags(call)) return multistatus({})
      if (asksForData(call)) return multistatus({ [path('a')]: objectData(OBJECT), [path('b')]: ETAG })
      return asksByPath(call) ? multistatus({ [path('b')]: ETAG }) : undefined
    })
    const steps = await firstSync(account)
    expect(steps.flatMap(({ removed }) => removed)).toEqual([])
    expect(steps.flatMap(({ unreadable = [] }) => unreadable)).toEqual([
      { eventId: path('b'), reason: 'The CalDAV server lists the object, and does not send it.' },
    ])
  })

  it('reads by path what a list names with an error of its own', async () => {
    const { account } = await scriptedDavCalendar((call) => {
      if (asksForData(call)) return { status: 500 }
      return asksForEtags(call) ? multistatus({ [path('a')]: 423, [path('b')]: 404 }) : undefined
    })
    expect(await idsInRange(account)).toEqual([path('a')])
  })

  it('takes no response that ends early for a complete one', async () => {
    const cut = (reply: DavReply): DavReply => ({ body: String(reply.body).slice(0, -'END:VCALENDAR'.length * 8) })
    const all = { [path('a')]: objectData(OBJECT), [path('b')]: objectData(OBJECT) }
    const { account } = await scriptedDavCalendar((call) => {
      if (asksForData(call)) return cut(multistatus(all))
      return asksForEtags(call) ? multistatus({ [path('a')]: ETAG, [path('b')]: ETAG }) : undefined
    })
    expect(await idsInRange(account)).toEqual([path('a'), path('b')])
    const lists = await scriptedDavCalendar((call) =>
      call.body.includes('calendar-query') ? { body: String(multistatus(all).body).slice(0, -20) } : undefined,
    )
    await expect(idsInRange(lists.account)).rejects.toMatchObject({ kind: 'unavailable' })
  })

  it('takes an object with a second event for no sign that the server finds series', async () => {
    const beside = WEEKLY.replace('END:VCALENDAR', `${OBJECT.slice(OBJECT.indexOf('BEGIN:VEVENT'))}`)
    const { account, calls } = await scriptedDavCalendar((call) =>
      asksForData(call) ? multistatus({ [path('a')]: objectData(beside) }) : undefined,
    )
    await idsInRange(account)
    expect(calls.filter(asksForEtags)).toHaveLength(2)
  })

  it('asks for earlier series until the server has shown that it finds them', async () => {
    let objects: Record<string, string> = { [path('a')]: objectData(OBJECT) }
    const { account, calls } = await scriptedDavCalendar((call) => {
      if (asksForData(call)) return multistatus(objects)
      if (asksForEtags(call)) return multistatus({ [path('weekly')]: ETAG })
      return asksByPath(call) ? objectsAsked(call.body, WEEKLY) : undefined
    })
    expect(await idsInRange(account)).toEqual([path('a'), path('weekly')])
    expect(calls.filter(asksForEtags)).toHaveLength(2)
    objects = { ...objects, [path('weekly')]: objectData(WEEKLY) }
    expect(await idsInRange(account)).toEqual([path('a'), path('weekly')])
    objects = { [path('a')]: objectData(OBJECT) }
    expect(await idsInRange(account)).toEqual([path('a')])
    expect(calls.filter(asksForEtags)).toHaveLength(2)
  })
})
