import type { Log } from '../../src/platform/log/index.ts'
import { eventually } from '../kit/eventually.ts'
import { type Api, api } from '../kit/http/http.ts'
import { XSS_VECTORS } from '../kit/messages/html/xss-vectors.ts'
import { startService } from '../kit/service/service.ts'
import { startDavProxy } from '../servers/dav-proxy.ts'
import { type Dovecot, startDovecot } from '../servers/dovecot.ts'
import { attachmentMail, htmlMail, plainMail } from '../servers/messages.ts'
import { startRadicale } from '../servers/radicale.ts'
import { startReceiver } from '../servers/receiver.ts'
import { startSmtpSink } from '../servers/smtp.ts'
import { PASSWORD } from './mailboxes.ts'
import { HOSTILE, refuseSome, writeCollections } from './portal-collections.ts'
import { OPERATOR } from './portal-visit.ts'

/** A service in use: mailboxes in several states, messages of all kinds, endpoints that work and that fail, and sent messages. */
export interface PortalStage {
  url: string
  api: Api
  /** The service's log. */
  log: Log
  dovecot: Dovecot
  /** Ids by what they are. */
  accounts: Record<'ada' | 'grace' | 'rejected', string>
  endpoints: Record<'working' | 'failing' | 'inactive', string>
  outbox: Record<'sent' | 'scheduled' | 'failed' | 'uncertain', string>
  /** Connects another mailbox of Dovecot with the link of a session. */
  user: { email: string; password: string }
  close(): Promise<void>
}

const USERS = ['ada@acme.example', 'grace@acme.example', 'linus@acme.example', 'hedy@acme.example'] as const

const SUBJECTS = [
  ['Ines Brandt <ines@brandt.example>', 'Contract for the new office'],
  ['Ravi Patel <ravi@northwind.example>', 'Invoice 2031 is due on Friday'],
  ['Build <ci@builds.example>', 'main passed: 1,204 tests in 3 minutes'],
  ['Mara Lindqvist <mara@fjord.example>', 'Dinner on Thursday?'],
  ['Support <help@airline.example>', 'Your booking QX7P2 was changed'],
  ['Tom Okafor <tom@acme.example>', 'Re: Roadmap for the first quarter'],
  ['Letters <letters@press.example>', 'Ten things that we learned about queues'],
  ['Lea Moreau <lea@studio.example>', 'Photos of the workshop'],
]

export async function openPortalStage(): Promise<PortalStage> {
  const closers: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const closeStep of closers.toReversed()) await closeStep()
  }
  try {
    return await open(closers, close)
  } catch (error) {
    await close()
    throw error
  }
}

async function open(closers: (() => Promise<unknown>)[], close: () => Promise<void>): Promise<PortalStage> {
  async function started<T>(starting: Promise<T>, stop: (it: T) => Promise<unknown>): Promise<T> {
    const it = await starting
    closers.push(() => stop(it))
    return it
  }
  const [dovecot, radicale, smtp, receiver] = await Promise.all([
    started(startDovecot(), (it) => it.stop()),
    started(startRadicale(), (it) => it.stop()),
    started(startSmtpSink(), (it) => it.close()),
    started(startReceiver(), (it) => it.close()),
  ])
  const davProxy = await started(startDavProxy(radicale.url), (it) => it.close())
  const environment = {
    ADMIN_USERNAME: OPERATOR.username,
    ADMIN_PASSWORD: OPERATOR.password,
    LOG_LEVEL: 'info',
    CONTACTS_ENABLED: 'true',
  }
  const service = await started(startService({ environment, output: () => {} }), (it) => it.stop())
  const owner = api(service.url, service.key)
  const call = async (method: string, path: string, body?: unknown) => {
    const { status, text, json } = await owner.request(method, path, body === undefined ? {} : { body })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return json
  }

  const [ada, grace, rejected, further] = USERS
  for (const user of USERS) await dovecot.addUser(user, PASSWORD)
  await deliverAll(dovecot, ada)
  const refused = await writeCollections(radicale, ada)
  const connect = async (user: string, more: object = {}) => {
    const account = await call('POST', '/accounts', {
      provider: 'imap',
      email: user,
      customUserId: `user-${user.split('@')[0]}`,
      host: dovecot.host,
      port: dovecot.imapsPort,
      secure: true,
      allowSelfSigned: true,
      username: user,
      password: PASSWORD,
      smtpHost: smtp.host,
      smtpPort: smtp.port,
      smtpSecure: false,
      ...more,
    })
    return String(account.id)
  }
  const [adaId, graceId, rejectedId] = await Promise.all([
    connect(ada, { caldavUrl: davProxy.url }),
    connect(grace),
    connect(rejected),
  ])
  for (const id of [adaId, graceId, rejectedId]) {
    await eventually(async () => {
      const { status } = await call('GET', `/accounts/${id}`)
      if (status !== 'connected') throw new Error(`The account is ${status}.`)
    })
  }
  await refuseSome({ call, davProxy, accountId: adaId, refused })

  receiver.always((request) =>
    request.path === '/broken'
      ? { status: 500, body: `Cannot store the event. ${HOSTILE}` }
      : { status: 200, body: 'ok' },
  )
  const endpoint = async (path: string, more: object = {}) => {
    const url = new URL(path, receiver.url).href
    return String(
      (await call('POST', '/webhooks/endpoints', { url, eventTypes: ['message.*'], retryCount: 0, ...more })).id,
    )
  }
  const endpoints = {
    working: await endpoint('/hooks/posthorn', { headers: { 'X-Environment': 'production' } }),
    failing: await endpoint('/broken', { retryCount: 1, retryDelayMs: 0 }),
    inactive: await endpoint('/old', { isActive: false }),
  }

  const send = async (subject: string, more: object = {}) => {
    const body = { to: ['ravi@northwind.example'], subject, body: 'Hello Ravi,\n\nthank you.\n', ...more }
    return String((await call('POST', `/accounts/${graceId}/messages/send`, body)).outboxId)
  }
  const settled = (id: string, status: string) =>
    eventually(async () => {
      const found = (await call('GET', `/outbox/${id}`)).status
      if (found !== status) throw new Error(`The message is ${found}, not ${status}.`)
    })
  const sent = await send('Re: Invoice 2031 is due on Friday')
  await settled(sent, 'sent')
  smtp.behave({ recipient: () => 550 })
  const failed = await send('Offer for the garden shed')
  await settled(failed, 'failed')
  smtp.behave({ message: () => 'drop' })
  const uncertain = await send(`Signed contract ${HOSTILE}`)
  await settled(uncertain, 'uncertain')
  smtp.behave({})
  const scheduled = await send('Reminder: workshop', { sendAt: new Date(Date.now() + 86_400_000).toISOString() })
  await call('POST', '/drafts', {
    accountId: graceId,
    to: ['mara@fjord.example'],
    subject: 'Dinner on Thursday',
    body: `See you at eight. ${HOSTILE}`,
  })

  await dovecot.deliver(ada, plainMail({ from: 'Ines Brandt <ines@brandt.example>', subject: 'The lease is signed' }))
  await eventually(async () => {
    const { deliveries } = await call('GET', `/webhooks/deliveries?eventType=message.received&status=failed`)
    if (deliveries.length === 0) throw new Error('No delivery has failed yet.')
  })
  await dovecot.setPassword(rejected, 'changed by its owner')
  await dovecot.kick(rejected)
  await call('POST', `/accounts/${rejectedId}/sync`)
  await eventually(async () => {
    const { status } = await call('GET', `/accounts/${rejectedId}`)
    if (status !== 'auth_error') throw new Error(`The account is ${status}.`)
  })
  return {
    url: service.url,
    api: owner,
    log: service.log,
    dovecot,
    close,
    accounts: { ada: adaId, grace: graceId, rejected: rejectedId },
    endpoints,
    outbox: { sent, scheduled, failed, uncertain },
    user: { email: further, password: PASSWORD },
  }
}

async function deliverAll(dovecot: Dovecot, user: string): Promise<void> {
  const hour = 3_600_000
  const old = [...SUBJECTS, ...SUBJECTS, ...SUBJECTS, ...SUBJECTS].map(([from = '', subject = ''], index) => {
    const date = new Date(Date.now() - (index + 2) * 5 * hour)
    const message = plainMail({ from, subject, messageId: `<${index}@acme.example>` })
    return () => dovecot.deliver(user, message, { date, flags: index > 2 ? ['\\Seen'] : [] })
  })
  // Each opens a connection, of which the server accepts some at once.
  for (let start = 0; start < old.length; start += 8) {
    await Promise.all(old.slice(start, start + 8).map((deliver) => deliver()))
  }
  const near = (minutes: number) => ({ date: new Date(Date.now() - minutes * 60_000) })
  await dovecot.deliver(
    user,
    htmlMail({ from: 'Studio <lea@studio.example>', subject: 'Spring catalogue', html: CATALOGUE }),
    near(90),
  )
  const html = `<html><body>${XSS_VECTORS.join('<hr>')}</body></html>`
  const from = `"${HOSTILE.replaceAll('"', '')}" <mallory@evil.example>`
  await dovecot.deliver(user, htmlMail({ from, subject: `Hostile ${HOSTILE}`, html }), near(60))
  await dovecot.deliver(
    user,
    attachmentMail({
      from,
      subject: 'Hostile attachments',
      attachments: [
        {
          filename: `${HOSTILE}.svg`,
          contentType: 'image/svg+xml',
          content: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'),
        },
        { filename: 'page.html', contentType: 'text/html', content: Buffer.from('<script>alert(1)</script>') },
      ],
    }),
    near(30),
  )
  await dovecot.deliver(user, plainMail({ subject: 'In a folder' }), { folder: 'Hostile <b onclick=alert(1)>' })
}

const CATALOGUE = `<html><body style="background:#f4f1ea"><h1 style="color:#7a4b1e;font-family:Georgia,serif">Spring catalogue</h1>
<p>New this month: <b>lamps</b>, <i>chairs</i> and a table that folds.</p>
<img src="https://images.studio.example/lamp.jpg" alt="A lamp" width="200">
<table border="1" cellpadding="8"><tr><th>Lamp</th><td>€ 120</td></tr><tr><th>Chair</th><td>€ 340</td></tr></table>
<p><a href="https://studio.example/shop">Visit the shop</a></p></body></html>`
