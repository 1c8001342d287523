import PostalMime from 'postal-mime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { type Api, api } from '../../../test/kit/http/http.ts'
import { type Service, startService } from '../../../test/kit/service/service.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { type SmtpSink, startSmtpSink } from '../../../test/servers/smtp.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON of responses.
type Json = any

const DAY_MS = 24 * 60 * 60_000
const TOMORROW_MS = Math.ceil(Date.now() / DAY_MS + 1) * DAY_MS
const ALWAYS = { openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }], durationMinutes: 30 }
const HOST = 'host@acme.example'
/** A word that an attacker would write to strangers. None of our own messages contains it. */
const EVIL = 'evil'

describe.skipIf(!dovecotAvailable())('strangers at booking pages', () => {
  let server: Dovecot
  let smtp: SmtpSink
  let service: Service
  let owner: Api
  let accountId: string
  let slugs = 0

  beforeAll(async () => {
    ;[server, smtp, service] = await Promise.all([
      startDovecot(),
      startSmtpSink(),
      startService({ environment: { TRUSTED_PROXIES: '127.0.0.1', LOG_LEVEL: 'fatal' } }),
    ])
    owner = api(service.url, service.key)
    await server.addUser('host', 'one')
    const linked = await owner.post('/accounts', {
      email: HOST,
      host: server.host,
      port: server.imapsPort,
      username: 'host',
      password: 'one',
      allowSelfSigned: true,
      smtpHost: smtp.host,
      smtpPort: smtp.port,
      smtpSecure: false,
    })
    expect([linked.status, linked.text]).toEqual([200, expect.anything()])
    accountId = linked.json.id
  })
  afterAll(async () => {
    await service?.stop()
    await Promise.all([smtp?.close(), server?.stop()])
  })

  const at = (halfHours: number) => new Date(TOMORROW_MS + halfHours * 30 * 60_000).toISOString()
  const from = (client: string) => ({ 'x-forwarded-for': client })
  const guest = () => api(service.url)

  async function experience(changes: object = {}) {
    slugs += 1
    const slug = `call-${slugs}`
    const body = { slug, name: 'Intro call', timezone: 'UTC', availability: ALWAYS, defaultAccountIds: [accountId] }
    const created = await owner.post('/scheduler/experiences', { ...body, ...changes })
    expect([created.status, created.text]).toEqual([201, expect.anything()])
    const path = `/scheduler/experiences/${slug}`
    return {
      slug,
      path,
      book: (body: object, client: string) => guest().post(`${path}/bookings`, body, from(client)),
    }
  }

  /** Everything that was to be sent was sent. */
  async function settled() {
    await eventually(async () => {
      const jobs = (await owner.get('/scheduler-queue/jobs?limit=200')).json.jobs
      // Reminders wait for their day.
      const open = jobs.filter(({ type, status }: Json) => type !== 'reminder' && /waiting|active/.test(status))
      expect(open).toEqual([])
      const { messages } = (await owner.get('/outbox?limit=200')).json
      expect(messages.filter(({ status }: Json) => status !== 'sent')).toEqual([])
    })
  }

  const messagesTo = (email: string) => smtp.messages.filter(({ to }) => to.includes(email))

  /** All that a recipient can read: headers, text, HTML and the invitation. */
  async function readContent(raw: Buffer) {
    const mail = await PostalMime.parse(raw)
    const files = mail.attachments.map(({ content }) =>
      typeof content === 'string' ? content : new TextDecoder().decode(content),
    )
    const people = [mail.from, ...(mail.to ?? []), ...(mail.replyTo ?? [])].map((person) => person?.name)
    const invitation = files.join('\n').replaceAll(/\r?\n[ \t]/g, '')
    return { mail, all: [mail.subject, mail.text, mail.html, invitation, ...people].join('\n') }
  }

  function linkIn(text: string | undefined, action: string) {
    const link = text?.split(/\s+/).find((word) => word.includes(`action=${action}`))
    if (link === undefined) throw new Error(`the message has no link to ${action}: ${text}`)
    const { pathname, searchParams } = new URL(link)
    return { pathname, token: searchParams.get('token') ?? '', href: service.url + pathname + new URL(link).search }
  }

  it('cannot make the service mail people whom they name, nor write to them', async () => {
    const { slug, book } = await experience({
      bookingForm: { fields: [{ name: 'notes', label: 'Notes', type: 'textarea' }] },
    })
    const outcomes: Json[] = []
    for (let count = 0; count < 60; count += 1) {
      const attendees = Array.from({ length: 10 }, (_, index) => ({
        email: `attendee-${count}-${index}@stranger.example`,
        displayName: `${EVIL}.example/x`,
        notes: `${EVIL} notes`,
      }))
      const body = {
        slot: { start: at(count), metadata: { title: EVIL } },
        guest: {
          email: `guest-${count}@stranger.example`,
          name: `${EVIL}.example/x`,
          company: EVIL,
          locale: `en-x-${EVIL}`,
        },
        attendees,
        responses: { notes: `visit ${EVIL}.example` },
        metadata: { title: EVIL },
      }
      // One customer of a provider has many addresses of IPv6.
      outcomes.push(await book(body, `2001:db8:1:2::${(count + 1).toString(16)}`))
    }
    const made = outcomes.filter(({ status }) => status === 201)
    const refused = outcomes.filter(({ status }) => status === 429)
    expect([made.length, refused.length]).toEqual([10, 50])
    expect(refused[0].json.error).toMatchObject({ code: 'mail_limited', message: expect.stringContaining('network') })
    expect(Number(refused[0].headers.get('retry-after'))).toBeGreaterThan(23 * 60 * 60)
    for (const { json } of made) expect(json).toMatchObject({ guestVerified: false, needsConfirmation: true })

    await settled()
    const recipients = new Set(smtp.messages.flatMap(({ to }) => to))
    expect([...recipients].filter((recipient) => recipient.startsWith('attendee-'))).toEqual([])
    expect(recipients.size).toBe(11)
    for (const { raw, to } of smtp.messages) {
      if (to.includes(HOST)) continue
      const { all } = await readContent(raw)
      expect(all).toContain('SUMMARY:Intro call')
      expect(all.toLowerCase()).not.toContain(EVIL)
    }
    // The host reads what was entered.
    const [toHost] = messagesTo(HOST)
    expect((await readContent(toHost?.raw ?? Buffer.alloc(0))).all).toContain(`visit ${EVIL}.example`)

    // Refused requests made nothing, and the operator reads about them once.
    const { bookings } = (await owner.get(`/scheduler/bookings?experienceSlug=${slug}&limit=200`)).json
    expect(bookings).toHaveLength(10)
    const { events } = (await owner.get('/events?type=booking.mail_limited')).json
    expect(events.map(({ data }: Json) => data)).toEqual([
      { experienceSlug: slug, limit: 'client', messages: 10, windowHours: 24 },
    ])
    expect((await owner.get(`/scheduler/experiences/${slug}`)).json.mailLimit).toEqual({
      limit: 'client',
      limitedAt: expect.any(String),
      refusedRequests: 50,
    })
    // The application is not limited, and other clients are not either.
    const more = { slot: { start: at(100) }, guest: { email: 'known@stranger.example' } }
    expect((await owner.post(`/scheduler/experiences/${slug}/bookings`, more)).status).toBe(201)
    const other = { slot: { start: at(101) }, guest: { email: 'other@stranger.example' } }
    expect((await book(other, '203.0.113.1')).status).toBe(201)
  })

  it('do not get an invitation before the guest has confirmed the address', async () => {
    const { path, book } = await experience()
    const body = {
      slot: { start: at(200) },
      guest: { email: 'lin@northwind.example', name: 'Lin Duarte' },
      attendees: [
        { email: 'kim@northwind.example', displayName: 'Kim Nguyễn' },
        { email: 'bo@northwind.example', displayName: `${EVIL}.example` },
        { email: 'BO@northwind.example' },
        { email: 'lin+me@northwind.example' },
      ],
    }
    const { json: made } = await book(body, '203.0.113.10')
    await settled()
    const toGuest = messagesTo('lin@northwind.example')
    expect(toGuest).toHaveLength(1)
    const { mail } = await readContent(toGuest[0]?.raw ?? Buffer.alloc(0))
    expect(mail.to).toEqual([{ address: 'lin@northwind.example', name: 'Lin Duarte' }])
    expect(mail.text).toContain('If it was not you, ignore this message')
    const link = linkIn(mail.text, 'confirm')
    expect(messagesTo('kim@northwind.example')).toEqual([])

    // Scanners open links.
    const page = await guest().get(link.href, { accept: 'text/html' })
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('Confirm address')])
    expect((await owner.get(`/scheduler/bookings/${made.id}`)).json.guestVerified).toBe(false)
    // Who booked has links too, which prove nothing.
    const own = new URL(made.links.cancel)
    const withOwn = { token: own.searchParams.get('token') ?? '' }
    const html = { accept: 'text/html' }
    expect((await guest().form(`${link.pathname}/confirm`, withOwn, html)).status).toBe(404)
    const confirmed = await guest().form(`${link.pathname}/confirm`, { token: link.token }, html)
    expect(confirmed.status).toBe(303)
    const target = new URL(confirmed.headers.get('location') ?? '', `${service.url}${link.pathname}/confirm`)
    expect((await guest().get(target.href, html)).text).toContain('Your address is confirmed.')
    expect((await guest().form(`${link.pathname}/confirm`, { token: link.token }, html)).status).toBe(303)
    expect((await owner.get(`/scheduler/bookings/${made.id}`)).json.guestVerified).toBe(true)

    await settled()
    const [invitation, ...others] = messagesTo('kim@northwind.example')
    expect(others).toEqual([])
    expect(invitation?.to.map((recipient) => recipient.toLowerCase()).sort()).toEqual([
      'bo@northwind.example',
      'kim@northwind.example',
    ])
    const content = await readContent(invitation?.raw ?? Buffer.alloc(0))
    expect(content.mail.to?.map(({ name }) => name)).toEqual(['Kim Nguyễn', ''])
    expect(content.all).not.toContain(EVIL)
    expect(content.all).not.toContain('token=')

    // A guest who was verified does not count any more, whatever the network.
    for (let count = 0; count < 6; count += 1) {
      const again = { slot: { start: at(210 + count) }, guest: { email: 'lin@northwind.example' } }
      const { status } = await guest().post(`${path}/bookings`, again, from(`203.0.113.${20 + count}`))
      // All the same nobody fills one mailbox.
      expect(status).toBe(count < 5 ? 201 : 429)
    }
  })

  it('may move and cancel, but not write by it', async () => {
    const { book } = await experience()
    const body = { slot: { start: at(300) }, guest: { email: 'mo@northwind.example' } }
    const client = from('203.0.113.30')
    const { json: made } = await book(body, '203.0.113.30')
    const token = new URL(made.links.cancel).searchParams.get('token')
    const path = `/scheduler/bookings/${made.id}`
    const statuses: number[] = []
    for (let count = 0; count < 6; count += 1) {
      const move = { slot: { start: at(310 + count) }, token }
      statuses.push((await guest().post(`${path}/reschedule`, move, client)).status)
    }
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429])
    // The end of a booking frees the time of the host, so it is never refused.
    const cancel = { token, reason: `${EVIL}.example` }
    expect((await guest().post(`${path}/cancel`, cancel, client)).status).toBe(200)
    await settled()
    const toGuest = messagesTo('mo@northwind.example')
    expect(toGuest.length).toBeLessThanOrEqual(5)
    for (const { raw } of toGuest) expect((await readContent(raw)).all).not.toContain(EVIL)
    const toHost = await Promise.all(messagesTo(HOST).map(({ raw }) => readContent(raw)))
    expect(toHost.some(({ all }) => all.includes('Booking cancelled') && all.includes(EVIL))).toBe(true)
  })

  it('do not lock a guest out by guessing the token of a link', async () => {
    const { slug, book } = await experience()
    const { json: made } = await book(
      { slot: { start: at(400) }, guest: { email: 'ann@northwind.example' } },
      '203.0.113.40',
    )
    const token = new URL(made.links.cancel).searchParams.get('token')
    const page = `/book/${slug}/bookings/${made.id}`
    const html = { accept: 'text/html' }
    const attempts = { page: [] as number[], form: [] as number[], api: [] as number[] }
    for (let count = 0; count < 25; count += 1) {
      const client = from('203.0.113.50')
      attempts.page.push((await guest().get(`${page}?token=wrong-${count}`, { ...html, ...client })).status)
      attempts.form.push((await guest().form(page, { token: `wrong-${count}` }, { ...html, ...client })).status)
      attempts.api.push(
        (await guest().post(`/scheduler/bookings/${made.id}/cancel`, { token: `wrong-${count}` }, client)).status,
      )
    }
    expect(attempts.page).toEqual(Array(25).fill(404))
    for (const statuses of [attempts.form, attempts.api]) {
      expect(statuses).toEqual([...Array(20).fill(404), ...Array(5).fill(429)])
    }
    // The right one works, also from the network of the attacker.
    for (const address of ['203.0.113.40', '203.0.113.50']) {
      expect((await guest().get(`${page}?token=${token}`, { ...html, ...from(address) })).status).toBe(200)
    }
    const cancelled = await guest().post(`/scheduler/bookings/${made.id}/cancel`, { token }, from('203.0.113.50'))
    expect([cancelled.status, cancelled.json.status]).toEqual([200, 'cancelled'])
  })
})
