import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { imapUser, testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { databases } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { api } from '../../../test/kit/http/http.ts'
import { type Service, startService } from '../../../test/kit/service/service.ts'
import { type Receiver, startReceiver } from '../../../test/servers/receiver.ts'
import { cli } from '../cli.ts'

const open = databases('sqlite')

describe('commands for the objects of a running service', () => {
  let service: Service
  let receiver: Receiver
  let accountId = ''
  beforeAll(async () => {
    const place = await open.place()
    accountId = (await testAccounts(await open(place)).link(imapUser('ada'))).id
    service = await startService({ place })
    receiver = await startReceiver()
  })
  afterAll(async () => {
    await service?.stop()
    await receiver?.close()
  })

  async function posthorn(line: string[], width?: number) {
    const out: string[] = []
    const error: string[] = []
    const terminal = { out: (text: string) => out.push(text), error: (text: string) => error.push(text), width }
    const code = await cli([...line, '--url', service.url, '--key', service.key], terminal)
    return { code, out: out.join('\n'), error: error.join('\n') }
  }

  /** Runs a command with --json and parses what it prints. */
  async function json(line: string[]) {
    const { code, out, error } = await posthorn([...line, '--json'])
    expect([line, code, error]).toEqual([line, 0, ''])
    return JSON.parse(out)
  }

  it('create, list, test, disable, recover and delete an endpoint', async () => {
    const url = `${receiver.url}/hook`
    receiver.always({ status: 204 })
    const created = await posthorn(['endpoints', 'create', url, '--events', 'message.received, booking.confirmed'])
    expect(created).toMatchObject({ code: 0, error: expect.stringContaining('only time that the secret') })
    expect(created.out).toMatch(/^Secret +whsec_\S+$/m)
    const id = /^Endpoint +(\S+)$/m.exec(created.out)?.[1] ?? ''
    const listed = await posthorn(['endpoints', 'list'])
    expect(listed).toMatchObject({ code: 0, error: '1 endpoint.' })
    expect(listed.out).toContain(`${id}  ${url}  active  message.received,booking.confirmed  never`)
    expect(await json(['endpoints', 'list'])).toMatchObject({ endpoints: [{ id }], pagination: { total: 1 } })
    expect((await posthorn(['endpoints', 'show', id])).out).not.toContain('whsec_')
    expect(await posthorn(['endpoints', 'test', id])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^dlv_\w+ {2}success {2}204 in \d/),
    })
    receiver.always({ status: 500 })
    expect(await posthorn(['endpoints', 'test', id])).toMatchObject({
      code: 1,
      error: expect.stringMatching(/did not accept the test event\. See: posthorn deliveries show dlv_/),
    })
    expect((await posthorn(['endpoints', 'disable', id])).out).toBe(`${id}  ${url}  disabled`)
    expect(await json(['endpoints', 'show', id])).toMatchObject({ isActive: false })
    expect((await posthorn(['endpoints', 'enable', id])).out).toBe(`${id}  ${url}  active`)
    expect((await posthorn(['endpoints', 'recover', id, '--since', '2h'])).out).toMatch(/^Queued \d+ deliver/)
    expect(await posthorn(['endpoints', 'recover', id])).toMatchObject({ code: 2 })
    expect(await posthorn(['endpoints', 'recover', id, '--since', 'noon'])).toMatchObject({
      code: 2,
      error: expect.stringContaining('--since must be such as 2h'),
    })
    expect(await posthorn(['endpoints', 'delete', id])).toMatchObject({ code: 0 })
    expect(await posthorn(['endpoints', 'show', id])).toMatchObject({ code: 1, out: '' })
  })

  it('list events, and show one with its data and deliveries', async () => {
    const client = api(service.url, service.key)
    const { eventId } = (await client.post('/webhooks/test-event', { type: 'message.received' })).json
    const recent = ['events', 'list', '--type', 'message.received', '--since', '1h']
    await eventually(async () => expect((await posthorn(recent)).error).toBe('1 event.'))
    expect((await posthorn(recent)).out).toMatch(new RegExp(`\\n${eventId}  message.received \\(test\\)  \\d+ s ago`))
    const alone = await posthorn(['events', 'show', eventId])
    expect(alone).toMatchObject({ code: 0, error: expect.stringContaining('no endpoint subscribes') })
    expect(alone.out).toMatch(/^Event +evt_\w+\nType +message.received \(test\)\n/)
    expect(alone.out).toContain('\n    "subject": ')
    receiver.always({ status: 204 })
    const endpoint = await json(['endpoints', 'create', receiver.url])
    const sent = (await client.post('/webhooks/test-event', { type: 'message.received' })).json.eventId
    expect(await json(['events', 'show', sent])).toMatchObject({
      id: sent,
      deliveries: [{ endpointId: endpoint.id, url: receiver.url }],
    })
    expect((await posthorn(['events', 'show', sent])).out).toMatch(/\nDELIVERY +STATUS +URL\ndlv_/)
    expect(await posthorn(['events', 'list', '--account', 'ada@example.com', '--type', 'message.sent'])).toMatchObject({
      code: 0,
      error: '0 events.',
    })
  })

  it('rotate the secret of an endpoint, and keep the one before it for a while', async () => {
    receiver.always({ status: 204 })
    const { id, secret: before } = await json(['endpoints', 'create', `${receiver.url}/rotated`])
    const rotated = await posthorn(['endpoints', 'rotate-secret', id])
    expect(rotated).toMatchObject({ code: 0, error: expect.stringContaining('also signs for 24 hours') })
    const after = /^Secret +(whsec_\S+)$/m.exec(rotated.out)?.[1] ?? ''
    expect(after).not.toBe(before)
    const earlier = receiver.requests.length
    expect(await posthorn(['endpoints', 'test', id])).toMatchObject({ code: 0 })
    const received = receiver.requests.slice(earlier)
    expect(received).toHaveLength(1)
    for (const secret of [before, after]) receiver.verify(secret, received)
    expect(await json(['endpoints', 'rotate-secret', id])).toMatchObject({
      id,
      secret: expect.stringMatching(/^whsec_/),
    })
    expect(await posthorn(['endpoints', 'rotate-secret'])).toMatchObject({ code: 2 })
    expect(await posthorn(['endpoints', 'rotate-secret', 'whe_none'])).toMatchObject({
      code: 1,
      out: '',
      error: expect.stringContaining('"whe_none"'),
    })
  })

  it('do not promise an overlap to an endpoint that had no secret', async () => {
    const unsigned = { url: `${receiver.url}/unsigned`, secret: null }
    const { id } = (await api(service.url, service.key).post('/webhooks/endpoints', unsigned)).json
    expect(await posthorn(['endpoints', 'rotate-secret', id])).toMatchObject({
      code: 0,
      error: 'This is the only time that the secret is shown.',
    })
  })

  it('send an event to an endpoint that does not subscribe to it, and once more', async () => {
    receiver.always({ status: 204 })
    const { id } = await json(['endpoints', 'create', `${receiver.url}/once-more`, '--events', 'booking.confirmed'])
    const client = api(service.url, service.key)
    const { eventId } = (await client.post('/webhooks/test-event', { type: 'message.received' })).json
    const line = ['events', 'resend', eventId, '--endpoint', id]
    const received = () => receiver.requests.filter(({ path }) => path.endsWith('/once-more'))
    const sent = await posthorn(line)
    expect(sent).toMatchObject({ code: 0, out: expect.stringMatching(/^dlv_\w+$/) })
    const status = async () => (await json(['deliveries', 'show', sent.out])).status
    await eventually(async () => expect(await status()).toBe('success'))
    const { deliveryId } = await json(line)
    expect(deliveryId).toBe(sent.out)
    await eventually(() => expect(received()).toHaveLength(2))
    expect(received().map(({ headers }) => headers['webhook-id'])).toEqual([eventId, eventId])
    expect((await posthorn(['deliveries', 'show', deliveryId])).out).toContain(`${id}\n`)
    expect(await posthorn(['events', 'resend', eventId])).toMatchObject({
      code: 2,
      error: expect.stringContaining('needs --endpoint. List the endpoints: posthorn endpoints list'),
    })
    for (const [event, endpoint, unknown] of [
      ['evt_none', id, 'evt_none'],
      [eventId, 'whe_none', 'whe_none'],
    ] as const) {
      expect(await posthorn(['events', 'resend', event, '--endpoint', endpoint])).toMatchObject({
        code: 1,
        out: '',
        error: expect.stringContaining(`"${unknown}"`),
      })
    }
  })

  it('list, show, cancel and resolve messages of the outbox', async () => {
    const client = api(service.url, service.key)
    const sendAt = new Date(Date.now() + 3_600_000).toISOString()
    const message = { to: ['bob@example.com'], subject: '請求書 2026', body: 'x', sendAt }
    const queued = (await client.post(`/accounts/${accountId}/messages/send`, message)).json
    const id = queued.outboxId
    const listed = await posthorn(['outbox', 'list', '--status', 'scheduled', '--account', 'ada@example.com'])
    expect(listed).toMatchObject({ code: 0, error: '1 message.' })
    expect(listed.out).toContain(`${id}  scheduled  bob@example.com  請求書 2026`)
    expect(await posthorn(['outbox', 'list', '--status', 'failed'])).toMatchObject({ code: 0, error: '0 messages.' })
    expect((await posthorn(['outbox', 'show', id])).out).toMatch(/^Subject +請求書 2026$/m)
    expect(await posthorn(['outbox', 'resolve', id])).toMatchObject({ code: 2 })
    expect(await posthorn(['outbox', 'resolve', id, '--as', 'resent'])).toMatchObject({
      code: 2,
      error: expect.stringContaining('--as must be one of sent, retry, discard.'),
    })
    expect(await posthorn(['outbox', 'resolve', id, '--as', 'sent'])).toMatchObject({ code: 1 })
    expect(await posthorn(['outbox', 'cancel', id])).toMatchObject({ code: 0 })
    expect(await json(['outbox', 'show', id])).toMatchObject({ status: 'cancelled' })
  })

  it('create, list, disable and enable an experience', async () => {
    const options = ['--accounts', 'ada@example.com', '--minutes', '45', '--hours', '10:00-16:00', '--timezone', 'UTC']
    const created = await posthorn(['experiences', 'create', 'intro-call', '--name', 'Intro call', ...options])
    expect(created).toMatchObject({ code: 0, error: expect.stringContaining('callback secret') })
    expect(created.out).toMatch(/^Booking page +http:\S+intro-call$/m)
    expect(created.out).toMatch(/^Duration +45 min$/m)
    expect(await json(['experiences', 'show', 'intro-call'])).toMatchObject({
      name: 'Intro call',
      timezone: 'UTC',
      defaultAccountIds: [accountId],
      availability: { openHours: [{ start: '10:00', end: '16:00' }], durationMinutes: 45 },
    })
    expect((await posthorn(['experiences', 'list'])).out).toMatch(/\nintro-call {2}Intro call {2}active {2}1 +UTC/)
    expect((await posthorn(['experiences', 'disable', 'intro-call'])).out).toBe('intro-call  Intro call  disabled')
    expect((await posthorn(['experiences', 'enable', 'intro-call'])).out).toBe('intro-call  Intro call  active')
    expect(await posthorn(['experiences', 'create', 'x', '--hours', 'always'])).toMatchObject({ code: 2 })
    expect(await posthorn(['experiences', 'create', 'x', '--minutes', '1.5'])).toMatchObject({ code: 2 })
  })

  it('create a link for a user, and show whether it was used', async () => {
    const created = await posthorn(['sessions', 'create', 'bob@example.com', '--user', '4711', '--minutes', '5'])
    expect(created).toMatchObject({ code: 0, error: expect.stringContaining('works until') })
    const code = new URL(created.out).searchParams.get('session') ?? ''
    const shown = await posthorn(['sessions', 'show', code])
    expect(shown.out).toMatch(/^Status +pending\nEmail +bob@example.com\n/)
    expect(shown.out).toMatch(/^Expires .* in [1-5] min$/m)
    expect(await json(['sessions', 'show', code])).toMatchObject({ status: 'pending', accountId: null })
    expect(await posthorn(['sessions', 'create', '--provider', 'gmial'])).toMatchObject({ code: 2 })
    expect(await posthorn(['sessions', 'create', '--minutes', 'ten'])).toMatchObject({ code: 2 })
  })

  it.each([40, 60, 80, 120])('print tables that are at most %i columns wide', async (width) => {
    await json(['endpoints', 'create', `${receiver.url}/${'long/'.repeat(20)}`])
    for (const noun of ['accounts', 'deliveries', 'endpoints', 'events', 'experiences', 'outbox', 'keys', 'backfill']) {
      const { code, out } = await posthorn([noun, 'list'], width)
      expect([noun, code]).toEqual([noun, 0])
      expect(out.split('\n').filter((line) => line.length > width)).toEqual([])
    }
  })
})
