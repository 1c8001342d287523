import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { imapLink } from '../../../test/kit/accounts/accounts.ts'
import { describeOneDatabase } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { api } from '../../../test/kit/http/http.ts'
import { syncService } from '../../../test/kit/mailbox/sync.ts'
import { connected, openMailbox } from '../../../test/kit/mailbox/synced-mailbox.ts'
import { type Service, startService } from '../../../test/kit/service/service.ts'
import {
  exchangeReport,
  eximReport,
  gmailReport,
  postfixReport,
  type Reported,
} from '../../../test/servers/delivery-reports.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { type Google, startGoogle } from '../../../test/servers/google.ts'
import { plainMail } from '../../../test/servers/messages.ts'
import { type Microsoft, startMicrosoft } from '../../../test/servers/microsoft.ts'
import { type SmtpSink, startSmtpSink } from '../../../test/servers/smtp.ts'
import { WORDED_REPORTS, wordedReport } from '../../../test/servers/worded-reports.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON of responses.
type Json = any

const BOB = 'bob@example.com'
const HELLO = { to: [BOB], subject: 'Hello', body: 'Hello Bob' }

/** Requests for one account, and its events. */
function client(service: Service, accountId: string) {
  const { get, post } = api(service.url, service.key)
  const events = async (type: string): Promise<Json[]> =>
    (await get(`/events?accountId=${accountId}&type=${type}`)).json.events
  return {
    events,
    get: async (path: string) => (await get(path)).json,
    async send(): Promise<{ messageId: string; outboxId: string }> {
      const { outboxId, result } = (await post(`/accounts/${accountId}/messages/send`, HELLO)).json
      await eventually(async () => expect((await get(`/outbox/${outboxId}`)).json).toMatchObject({ status: 'sent' }))
      await eventually(async () => {
        expect((await events('message.sent')).map(({ objectId }) => objectId)).toContain(result.messageId)
      })
      return { messageId: result.messageId, outboxId }
    },
    /** Waits for this many bounces; the newest first. */
    async bounced(count: number) {
      await post(`/accounts/${accountId}/sync`)
      return eventually(async () => {
        const found = await events('message.bounced')
        expect(found).toHaveLength(count)
        return found
      })
    },
  }
}

describe.skipIf(!dovecotAvailable())('bounces in an imap mailbox', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describe('of a service', () => {
    let smtp: SmtpSink
    let service: Service
    beforeAll(async () => {
      ;[smtp, service] = await Promise.all([startSmtpSink(), startService()])
    })
    afterAll(async () => {
      await service.stop()
      await smtp.close()
    })

    it('are announced once for the message that was sent, and shown in the outbox', async () => {
      const user = 'bouncing'
      await server.addUser(user, 'one')
      const { json } = await api(service.url, service.key).post('/accounts', {
        email: `${user}@acme.example`,
        host: server.host,
        port: server.imapsPort,
        username: user,
        password: 'one',
        allowSelfSigned: true,
        smtpHost: smtp.host,
        smtpPort: smtp.port,
        smtpSecure: false,
      })
      const { get, send, bounced, events } = client(service, json.id)
      await eventually(async () => expect((await get(`/accounts/${json.id}`)).status).toBe('connected'))
      const { messageId, outboxId } = await send()
      const sentId = /^Message-ID: (.*)$/im.exec(smtp.messages[0]?.raw.toString() ?? '')?.[1]?.trim() ?? ''

      await server.deliver(user, postfixReport({ email: BOB, messageId: sentId }, 'delayed'))
      const [delayed] = await bounced(1)
      await server.deliver(user, eximReport({ email: BOB, messageId: sentId }))
      const [failed] = await bounced(2)
      const received = await events('message.received')
      expect(received).toHaveLength(2)
      const reports = received.map(({ objectId }) => objectId).reverse()
      expect([delayed, failed]).toMatchObject([
        { objectId: messageId, version: 1, data: { kind: 'temporary', reportMessageId: reports[0] } },
        { objectId: messageId, version: 2, data: { kind: 'permanent', reportMessageId: reports[1] } },
      ])
      const recipient = { email: BOB, status: '5.0.0', diagnostic: '550 5.1.1 User unknown' }
      expect(failed.data).toMatchObject({ messageId, subject: 'Hello', recipients: [recipient] })
      expect((await get(`/outbox/${outboxId}`)).bounced).toMatchObject([
        { kind: 'temporary', email: BOB, status: '4.4.1' },
        { kind: 'permanent', ...recipient, reportMessageId: reports[1], bouncedAt: failed.data.bouncedAt },
      ])
      expect((await get(`/outbox?accountId=${json.id}`)).messages).toMatchObject([{ bounced: [{}, {}] }])

      // A stranger can only name messages whose Message-ID is known to him.
      await server.deliver(user, postfixReport({ email: BOB, messageId: '<guessed@acme.example>' }))
      const [unknown] = await bounced(3)
      expect(unknown).toMatchObject({ data: { messageId: null, subject: 'Angebot f\u00fcr Sie' } })
      expect(unknown.objectId).toBe(unknown.data.reportMessageId)

      // The folder is read again, and its messages are matched with the stored ones.
      await openMailbox(server, user).renumber('INBOX', 4711)
      await server.deliver(user, plainMail({ from: 'postmaster@acme.example', subject: 'Not a report' }))
      await eventually(async () => expect(await events('message.received')).toHaveLength(4))
      await bounced(3)
      expect(await events('message.replied')).toEqual([])
    })

    it('in words, and in the form for addresses outside ASCII, are announced for the message', async () => {
      const user = 'worded'
      await server.addUser(user, 'one')
      const { json } = await api(service.url, service.key).post('/accounts', {
        email: `${user}@acme.example`,
        host: server.host,
        port: server.imapsPort,
        username: user,
        password: 'one',
        allowSelfSigned: true,
        smtpHost: smtp.host,
        smtpPort: smtp.port,
        smtpSecure: false,
      })
      const { get, send, bounced } = client(service, json.id)
      await eventually(async () => expect((await get(`/accounts/${json.id}`)).status).toBe('connected'))
      smtp.messages.length = 0
      const { messageId } = await send()
      const sentId = /^Message-ID: (.*)$/im.exec(smtp.messages[0]?.raw.toString() ?? '')?.[1]?.trim() ?? ''
      const [sendmail] = WORDED_REPORTS
      if (sendmail === undefined) throw new Error('there is no report')
      const words = wordedReport(sendmail).toString().replace('<sent-1@acme.example>', sentId)
      await server.deliver(user, words)
      const [first] = await bounced(1)
      const global = postfixReport({ email: BOB, messageId: sentId })
        .toString()
        .replaceAll('delivery-status', 'global-delivery-status')
        .replaceAll(/(-Recipient: )rfc822; ?.*/g, '$1utf-8; \\x{7528}\\x{6237}@example.com')
      await server.deliver(user, global)
      const [second] = await bounced(2)
      expect([first, second]).toMatchObject([
        { objectId: messageId, data: { messageId, kind: 'permanent', recipients: [{ email: 'gone@example.com' }] } },
        { objectId: messageId, data: { messageId, kind: 'permanent', recipients: [{ email: '用户@example.com' }] } },
      ])
    })
  })

  describeOneDatabase('after a process died', 'sqlite', (open) => {
    it('are announced once by the next one', async () => {
      const db = await open()
      const user = 'orphan'
      await server.addUser(user, 'one')
      const start = () => {
        const service = syncService(db, { timing: { pollMs: 400 } })
        onTestFinished(() => service.stop())
        return service
      }
      const first = start()
      const { host, imapsPort: port } = server
      const imap = { host, port, username: user, security: 'tls', allowSelfSigned: true, mailbox: 'INBOX' } as const
      const email = 'orphan@acme.example'
      const link = imapLink({ email, providerUser: user, secrets: { password: 'one' }, settings: { imap } })
      const { id: accountId } = await db.transaction((tx) => first.accounts.link(tx, link))
      await first.start()
      await connected(first, accountId)
      // Sent by another program: its copy in Sent is all that is known of it.
      const messageId = '<other@acme.example>'
      const fields = { from: email, to: BOB, subject: 'By another program', messageId }
      await server.deliver(user, plainMail(fields), { folder: 'Sent' })
      await first.synced(accountId)
      await server.deliver(user, postfixReport({ email: BOB, messageId }))
      const bounces = () => db.read.selectFrom('events').selectAll().where('type', '=', 'message.bounced').execute()
      const pending = () => db.read.selectFrom('pendingReports').select('messageId').execute()
      await eventually(async () => expect(await pending()).toHaveLength(1))
      expect(await bounces()).toEqual([])
      const [report] = await pending()

      await first.bounces.start()
      await eventually(async () => expect(await pending()).toEqual([]))
      const found = await bounces()
      expect(found.map(({ data }) => JSON.parse(data))).toMatchObject([
        { reportMessageId: report?.messageId, messageId: expect.stringMatching(/^msg_/), subject: fields.subject },
      ])
      await first.stop()
      const second = start()
      await second.start()
      await second.bounces.start()
      await second.synced(accountId)
      expect(await bounces()).toEqual(found)
    })
  })
})

describe.each(['gmail', 'microsoft'] as const)('bounces in a %s mailbox', (provider) => {
  let remote: Google | Microsoft
  let service: Service
  beforeAll(async () => {
    remote = provider === 'gmail' ? await startGoogle() : await startMicrosoft()
    service = await startService({ environment: remote.settings })
  })
  afterAll(async () => {
    await service.stop()
    await remote.close()
  })

  it('are announced for the message that was sent', async () => {
    const user = 'ann@example.test'
    remote.addUser(user)
    const { refreshToken } = await remote.grant(user)
    const { json } = await api(service.url, service.key).post('/accounts', { provider, refreshToken })
    const { get, send, bounced } = client(service, json.id)
    await eventually(async () => expect((await get(`/accounts/${json.id}`)).status).toBe('connected'))
    const { messageId } = await send()
    // Gmail has replaced the Message-ID.
    const { messageId: sentId } = await get(`/accounts/${json.id}/messages/${messageId}`)
    const about: Reported = { email: BOB, messageId: sentId, to: user }
    await remote.deliver(user, provider === 'gmail' ? gmailReport(about) : exchangeReport(about))
    const [event] = await bounced(1)
    expect(event).toMatchObject({ provider, objectId: messageId, data: { kind: 'permanent', subject: 'Hello' } })
    if (provider === 'gmail') {
      const { messages } = await get(`/accounts/${json.id}/messages?from=mailer-daemon`)
      const types = messages[0].attachments.map(({ contentType }: Json) => contentType)
      expect(types).toEqual(['message/delivery-status', 'message/rfc822'])
    }
    // Known by the class that Exchange gives it, no matter who sent it.
    const other = postfixReport(about).toString().replace('MAILER-DAEMON@', 'delivery@')
    await remote.deliver(user, other)
    expect((await bounced(2))[0]).toMatchObject({ objectId: messageId, version: 2 })
  })
})
