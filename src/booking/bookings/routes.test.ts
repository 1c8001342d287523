import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readWithOthers } from '../../../test/kit/calendars/readers/ics-readers.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { type Api, api } from '../../../test/kit/http/http.ts'
import { type Service, startService } from '../../../test/kit/service/service.ts'
import { type Receiver, startReceiver } from '../../../test/servers/receiver.ts'

const DAY_MS = 24 * 60 * 60_000
const TOMORROW_MS = Math.ceil(Date.now() / DAY_MS + 1) * DAY_MS
const GUEST = { email: 'Lin@northwind.example', name: 'Lin Duarte', timezone: 'America/Sao_Paulo' }
const ALWAYS = {
  openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }],
  durationMinutes: 30,
}
// biome-ignore lint/suspicious/noExplicitAny: JSON of responses.
type Json = any

describe('bookings over the API', () => {
  let service: Service
  let application: Receiver
  let owner: Api
  let guest: Api
  let slugs = 0

  beforeAll(async () => {
    ;[service, application] = await Promise.all([startService(), startReceiver()])
    owner = api(service.url, service.key)
    guest = api(service.url)
  })
  afterAll(() => Promise.all([service.stop(), application.close()]))

  /** An experience without hosts, so that it is its own host, and its paths. */
  async function experience(changes: object = {}) {
    slugs += 1
    const slug = `call-${slugs}`
    const body = { slug, name: 'Intro call', timezone: 'UTC', availability: ALWAYS, ...changes }
    const created = await owner.post('/scheduler/experiences', body)
    expect([created.status, created.text]).toEqual([201, expect.anything()])
    const path = `/scheduler/experiences/${slug}`
    const book = (client: Api, slot: object, more: object = {}, headers: Record<string, string> = {}) =>
      client.post(`${path}/bookings`, { slot, guest: GUEST, ...more }, headers)
    /** Waits for this many, because events are numbered after they are recorded. */
    const events = (count: number): Promise<Json[]> =>
      eventually(async () => {
        const { json } = await owner.get('/events?limit=200')
        const own = json.events.filter(({ data }: Json) => data.experienceSlug === slug).reverse()
        expect(own).toHaveLength(count)
        return own
      })
    return { slug, path, book, events }
  }
  /** Half hours from the beginning of the day after tomorrow. */
  const at = (halfHours: number) => new Date(TOMORROW_MS + halfHours * 30 * 60_000).toISOString()
  const token = (links: { cancel: string }) => new URL(links.cancel).searchParams.get('token') ?? ''

  it('books a slot, shows it, and records its events', async () => {
    const { slug, book, events } = await experience()
    const more = { attendees: [{ email: 'bo@northwind.example' }], responses: { topic: 'Terms' }, metadata: { a: 1 } }
    const { status, json } = await book(guest, { start: at(0) }, more)
    expect(status).toBe(201)
    expect(json).toMatchObject({
      id: expect.stringMatching(/^bkg_/),
      status: 'confirmed',
      experienceSlug: slug,
      ...more,
      guest: GUEST,
      slot: { start: at(0), end: at(1), timezone: 'UTC', participants: [], metadata: {} },
      links: { cancel: expect.stringContaining(`/book/${slug}/bookings/${json.id}?token=`) },
      sendsMessages: false,
    })
    expect(json).not.toHaveProperty('calendar')
    const { json: stored } = await owner.get(`/scheduler/bookings/${json.id}`)
    expect(stored).toMatchObject({ ...json, calendar: { state: 'none', error: null } })
    expect((await events(2)).map(({ type, version, data }) => [type, version, data.status])).toEqual([
      ['booking.created', 1, 'pending'],
      ['booking.confirmed', 2, 'confirmed'],
    ])
    expect(await book(guest, { start: at(0), end: at(1) })).toMatchObject({
      status: 409,
      json: { error: { code: 'slot_unavailable' } },
    })
    expect((await book(owner, { start: at(1) })).json).toHaveProperty('calendar')
    expect((await book(guest, { start: '2020-01-01T00:00:00Z' })).status).toBe(409)
    expect((await book(guest, { start: at(3) }, { guest: { email: 'no' } })).json.error.details[0].path).toBe(
      'body.guest.email',
    )
    const { status: unknown } = await guest.post('/scheduler/experiences/nothing-here/bookings', {
      slot: { start: at(0) },
      guest: GUEST,
    })
    expect(unknown).toBe(404)
  })

  it('makes one booking of a repeated request', async () => {
    const { book } = await experience()
    const key = { 'idempotency-key': 'guest one' }
    const first = await book(guest, { start: at(0) }, {}, key)
    const again = await book(guest, { start: at(0) }, {}, key)
    expect([again.status, again.json]).toEqual([201, first.json])
    expect([first, again].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true'])
    expect((await book(guest, { start: at(4) }, {}, key)).json.error.code).toBe('idempotency_mismatch')
    const both = await Promise.all([1, 2, 3].map(() => book(guest, { start: at(2) }, {}, { 'idempotency-key': 'two' })))
    expect(new Set(both.map(({ status, json }) => `${status} ${json.id}`)).size).toBe(1)
    expect((await book(guest, { start: at(6) }, {}, { 'idempotency-key': 'a'.repeat(257) })).status).toBe(400)
  })

  it('holds a slot for its guest', async () => {
    const { path, book } = await experience()
    const hold = async (start: string) => guest.post(`${path}/holds`, { slot: { start } })
    const { status, json: held } = await hold(at(0))
    expect([status, held]).toEqual([
      200,
      {
        id: expect.stringMatching(/^hld_/),
        slot: expect.objectContaining({ start: at(0), end: at(1) }),
        expiresAt: expect.any(String),
      },
    ])
    expect(Date.parse(held.expiresAt) - Date.now()).toBeGreaterThan(4 * 60_000)
    expect([(await hold(at(0))).status, (await book(guest, { start: at(0) })).status]).toEqual([409, 409])
    expect((await book(guest, { start: at(2) }, { holdId: held.id })).status).toBe(400)
    const booked = await guest.post(`${path}/bookings`, { guest: GUEST, holdId: held.id })
    expect([booked.status, booked.json.slot]).toEqual([201, held.slot])
    expect((await book(guest, { start: at(0) }, { holdId: held.id })).status).toBe(409)
    expect((await book(guest, { start: at(0) })).status).toBe(409)
  })

  it('lists by start, and by status, experience, guest and time', async () => {
    const { slug, book } = await experience()
    for (const index of [4, 0, 2]) await book(owner, { start: at(index) }, { guest: { email: `g${index}@x.example` } })
    const list = async (query: string) => {
      const { json } = await owner.get(`/scheduler/bookings?experienceSlug=${slug}&${query}`)
      return json.bookings.map(({ slot }: Json) => slot.start)
    }
    expect(await list('')).toEqual([at(4), at(2), at(0)])
    expect(await list('order=asc')).toEqual([at(0), at(2), at(4)])
    expect(await list(`from=${at(2)}&to=${at(4)}`)).toEqual([at(2)])
    expect(await list('guestEmail=G4%40x.example')).toEqual([at(4)])
    expect(await list('status=cancelled')).toEqual([])
    expect(await list('accountId=acc_none')).toEqual([])
    const { json: page } = await owner.get(`/scheduler/bookings?experienceSlug=${slug}&limit=2`)
    expect(page.pagination).toMatchObject({ total: 3, hasNext: true })
    expect(await list(`limit=2&cursor=${page.pagination.nextCursor}`)).toEqual([at(0)])
    expect((await owner.get('/scheduler/bookings?from=yesterday')).status).toBe(400)
    expect((await guest.get('/scheduler/bookings')).status).toBe(401)
    expect((await guest.get('/scheduler/bookings/bkg_1')).status).toBe(401)
    expect((await owner.get('/scheduler/bookings/bkg_1')).status).toBe(404)
  })

  it('changes metadata and guest, and nothing else', async () => {
    const { book, events } = await experience()
    const { json } = await book(guest, { start: at(0) }, { metadata: { a: 1 } })
    const path = `/scheduler/bookings/${json.id}`
    const changed = await owner.patch(path, {
      metadata: { b: 2 },
      guest: { name: 'Lin', notes: 'VIP', email: 'x@y.z' },
    })
    expect(changed.json).toMatchObject({
      metadata: { b: 2 },
      guest: { ...GUEST, name: 'Lin', notes: 'VIP' },
      version: 3,
    })
    expect((await owner.patch(path, { metadata: { b: 2 } })).json).toEqual(changed.json)
    expect((await owner.patch(path, { guest: { name: 'a\nb' } })).status).toBe(400)
    expect([(await guest.patch(path, {})).status, (await owner.patch('/scheduler/bookings/no', {})).status]).toEqual([
      401, 404,
    ])
    await events(2)
  })

  it('is cancelled by its link or by the application, which frees the slot', async () => {
    const { book, events } = await experience()
    const { json } = await book(guest, { start: at(0) })
    const cancel = (client: Api, body: object) => client.post(`/scheduler/bookings/${json.id}/cancel`, body)
    const { json: other } = await book(guest, { start: at(2) })
    for (const wrong of [token(other.links), 'a', `${token(json.links)}a`]) {
      expect((await cancel(guest, { token: wrong })).status).toBe(404)
    }
    expect((await cancel(guest, {})).status).toBe(401)
    const cancelled = await cancel(guest, { token: token(json.links), reason: 'I am ill, sorry.' })
    expect(cancelled.json).toMatchObject({ status: 'cancelled', cancelledBy: 'guest', reason: 'I am ill, sorry.' })
    expect((await cancel(owner, {})).json).toMatchObject({ status: 'cancelled', cancelledBy: 'guest', version: 3 })
    expect((await book(guest, { start: at(0) })).status).toBe(201)
    expect((await events(7)).at(-3)).toMatchObject({
      type: 'booking.cancelled',
      version: 3,
      data: { cancelledBy: 'guest', reason: 'I am ill, sorry.' },
    })
    expect((await owner.post(`/scheduler/bookings/${other.id}/cancel`)).json).toMatchObject({ cancelledBy: 'api' })
    expect((await owner.post('/scheduler/bookings/bkg_1/cancel')).status).toBe(404)
  })

  it('is a calendar file for the holder of a link, without an address, until it is cancelled', async () => {
    const { slug, book } = await experience({ name: 'Intro; call, \u{1f389}' })
    const { json } = await book(guest, { start: at(8) }, { attendees: [{ email: 'bo@northwind.example' }] })
    const { pathname, search } = new URL(json.links.calendar)
    const { status, headers, text } = await guest.get(pathname + search)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/calendar; charset=utf-8'])
    expect(headers.get('content-disposition')).toBe('attachment; filename="invitation.ics"')
    expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer'])
    const lines = text.replaceAll('\r\n ', '').split('\r\n')
    const time = (halfHours: number) => at(halfHours).replaceAll(/[-:]|\.\d+/g, '')
    expect(lines).toEqual(
      expect.arrayContaining([
        'METHOD:PUBLISH',
        expect.stringMatching(new RegExp(`^UID:${json.id}@`)),
        `DTSTART:${time(8)}`,
        `DTEND:${time(9)}`,
        'SUMMARY:Intro\\; call\\, \u{1f389}',
        'STATUS:CONFIRMED',
      ]),
    )
    expect(lines.join()).toContain(`/book/${slug}/bookings/${json.id}`)
    expect(lines.join()).not.toMatch(/northwind|ORGANIZER|ATTENDEE/i)
    expect((await guest.get(`${pathname}?token=wrong`)).status).toBe(404)
    const change = { slot: { start: at(10) }, token: token(json.links) }
    await guest.post(`/scheduler/bookings/${json.id}/reschedule`, change)
    const moved = (await guest.get(pathname + search)).text
    const states = [
      { sequence: 0, start: at(8), end: at(9) },
      { sequence: 1, start: at(10), end: at(11) },
    ].map(({ sequence, start, end }) => ({
      errors: [],
      uid: /UID:(\S+)/.exec(text)?.[1],
      sequence,
      status: 'CONFIRMED',
      start: start.replace('.000', ''),
      end: end.replace('.000', ''),
      summary: 'Intro; call, \u{1f389}',
    }))
    expect(readWithOthers([text, moved])).toMatchObject(states.map((state) => ({ icalendar: state, vobject: state })))
    await guest.post(`/scheduler/bookings/${json.id}/cancel`, { token: token(json.links) })
    const gone = await guest.get(pathname + search, { accept: 'application/json' })
    expect([gone.status, gone.json.error.code]).toEqual([409, 'conflict'])
  })

  it('is moved by its link, onto its own time too, and keeps id and links', async () => {
    const { book, events } = await experience({ availability: { ...ALWAYS, intervalMinutes: 15 } })
    const { json } = await book(guest, { start: at(0) })
    await book(guest, { start: at(4) })
    const move = (start: string, client = guest) =>
      client.post(`/scheduler/bookings/${json.id}/reschedule`, { slot: { start }, token: token(json.links) })
    expect((await move(at(4))).status).toBe(409)
    const moved = await move(at(0.5))
    expect([moved.status, moved.json]).toMatchObject([
      200,
      { id: json.id, status: 'rescheduled', slot: { start: at(0.5), end: at(1.5) }, links: json.links },
    ])
    expect((await move(at(0.5))).json).toEqual(moved.json)
    expect((await book(guest, { start: at(0) })).status).toBe(409)
    expect((await move(at(2), owner)).json).toMatchObject({ slot: { start: at(2) } })
    expect((await book(guest, { start: at(0) })).status).toBe(201)
    const found = (await events(8)).filter(({ type }) => type === 'booking.rescheduled')
    expect(found.map(({ data }) => [data.status, data.slot.start, data.previousSlot.start])).toEqual([
      ['rescheduled', at(0.5), at(0)],
      ['rescheduled', at(2), at(0.5)],
    ])
    await owner.post(`/scheduler/bookings/${json.id}/cancel`)
    expect((await move(at(6))).json.error.code).toBe('conflict')
  })

  it('asks the application, whose answer decides', async () => {
    const { book, events } = await experience({ bookingEndpoint: { url: application.url } })
    const respond = (status: number, body: object | string = {}, delayMs = 0) =>
      application.script({ status, body: typeof body === 'string' ? body : JSON.stringify(body), delayMs })
    respond(200, { joinUrl: 'https://meet.example/a', eventId: 'own-7', metadata: { crm: 4 } })
    const { json } = await book(guest, { start: at(0) }, { metadata: { a: 1 } })
    expect(json).toMatchObject({
      status: 'confirmed',
      joinUrl: 'https://meet.example/a',
      eventId: 'own-7',
      metadata: { a: 1, crm: 4 },
    })
    const sent = JSON.parse(application.requests.at(-1)?.body ?? '')
    expect(sent.request).toMatchObject({ bookingId: json.id, slot: { start: at(0) }, guest: GUEST })
    expect(application.requests.at(-1)?.headers['webhook-id']).toBe(json.id)

    respond(409, { message: 'Lin has no credit left.' })
    const refused = await book(guest, { start: at(2) }, {}, { 'idempotency-key': 'refused' })
    expect(refused.json.error).toMatchObject({ code: 'slot_unavailable', message: 'Lin has no credit left.' })
    const count = application.requests.length
    expect((await book(guest, { start: at(2) }, {}, { 'idempotency-key': 'refused' })).status).toBe(409)
    expect(application.requests).toHaveLength(count)

    respond(500)
    const failed = await book(guest, { start: at(2) }, {}, { 'idempotency-key': 'failed' })
    expect([failed.status, failed.json.error.type]).toEqual([502, 'callback'])
    respond(200, {}, 200)
    const running = book(guest, { start: at(2) }, {}, { 'idempotency-key': 'failed' })
    // The slot stays blocked while the application is asked.
    const isAsked = async () => application.open > 0
    while (!(await isAsked())) await new Promise(setImmediate)
    expect((await book(guest, { start: at(2) })).status).toBe(409)
    const again = await book(guest, { start: at(2) }, {}, { 'idempotency-key': 'failed' })
    expect(again.json.error.code).toBe('idempotency_running')
    expect((await running).status).toBe(201)
    expect((await events(8)).map(({ type }) => type.slice('booking.'.length))).toEqual([
      'created',
      'confirmed',
      'created',
      'rejected',
      'created',
      'rejected',
      'created',
      'confirmed',
    ])
  })

  it('is moved only if the application agrees', async () => {
    const { book } = await experience({ bookingEndpoint: { url: application.url } })
    application.script({ status: 200, body: '{}' })
    const { json } = await book(guest, { start: at(0) })
    const move = (start: string) => owner.post(`/scheduler/bookings/${json.id}/reschedule`, { slot: { start } })
    application.script({ status: 409, body: '{"message":"Too late."}' })
    expect((await move(at(2))).json.error).toMatchObject({ code: 'slot_unavailable', message: 'Too late.' })
    expect((await owner.get(`/scheduler/bookings/${json.id}`)).json).toMatchObject({
      status: 'confirmed',
      slot: json.slot,
    })
    application.script({ status: 200, body: '{}' }, { status: 200, body: '{}' })
    expect((await move(at(2))).json).toMatchObject({ status: 'rescheduled', slot: { start: at(2) } })
    const { request } = JSON.parse(application.requests.at(-1)?.body ?? '')
    expect(request).toMatchObject({ bookingId: json.id, slot: { start: at(2) }, previousSlot: { start: at(0) } })
    expect((await book(guest, { start: at(0) })).status).toBe(201)
  })

  it('counts requests of guests, and not those with a key', async () => {
    const { path, book } = await experience()
    const { headers } = await guest.post(`${path}/holds`, { slot: { start: at(0) } })
    expect(headers.get('ratelimit-limit')).toBe('30')
    expect((await book(owner, { start: at(2) })).headers.get('ratelimit-limit')).toBeNull()
  })
})
