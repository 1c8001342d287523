import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Json } from '../../src/platform/http/openapi/components.ts'
import {
  type Example,
  type ExampleFile,
  type ExampleRequest,
  working,
} from '../../src/platform/http/openapi/examples.ts'
import { googleSite } from '../kit/accounts/consent.ts'
import { described, examples } from '../kit/api/api-document.ts'
import { exampleValues } from '../kit/api/example-values.ts'
import { runCurl, runTypescript } from '../kit/api/run-sample.ts'
import { eventually } from '../kit/eventually.ts'
import { type ApiResponse, api } from '../kit/http/http.ts'
import { type ServiceProcess, shiftedClock, startServiceProcess } from '../kit/service/process.ts'
import { type Dovecot, startDovecot } from '../servers/dovecot.ts'
import { attachmentMail } from '../servers/messages.ts'
import { startMicrosoft } from '../servers/microsoft.ts'
import { type Radicale, startRadicale } from '../servers/radicale.ts'
import { type Receiver, startReceiver } from '../servers/receiver.ts'
import { type SmtpSink, startSmtpSink } from '../servers/smtp.ts'
import { vcard } from '../servers/vcards.ts'
import { GMAIL_USER, INVITATION, STANDUP } from './api-events.ts'

/**
 * One service with everything that the examples of the API name: Ada's mailbox, the invoice that arrives in it, the endpoint
 * that receives the event, and two users who connect their mailboxes. Each request creates what later ones use; see `FIRST` and `LAST`.
 */
export interface ApiStory {
  service: ServiceProcess
  /**
   * Sends the request of an example, with the values of the running service. An example that works is sent by its TypeScript sample,
   * and afterwards, if it changes nothing, by its curl sample, too.
   */
  send(operation: string, example: Example): Promise<ApiResponse>
  /** A body of an example, with the values of the running service. */
  realBody(body: Json): Json
  /** A text of the service, with the values of the examples. */
  toShown(text: string): string
  close(): Promise<void>
}

/** Operations that must come first, in this order; all others follow, then `LAST`. */
export const FIRST = ['POST /webhooks/endpoints', 'POST /connections', 'POST /accounts', 'POST /auth/sessions']
export const LAST = [
  'POST /drafts',
  'POST /accounts/{accountId}/drafts',
  'GET /accounts/{accountId}/drafts',
  'GET /drafts/{draftId}',
  'PUT /drafts/{draftId}',
  'POST /drafts/{draftId}/send',
  'DELETE /drafts/{draftId}',
  'GET /auth/authorize',
  'POST /auth/authorize',
  'POST /auth/authorize/imap/folders',
  'POST /auth/authorize/imap',
  'GET /auth/sessions/{code}',
  'POST /auth/sessions/{code}/start',
  'GET /providers/{providerName}/callback',
  'GET /accounts/{accountId}/calendars',
  'GET /accounts/{accountId}/calendars/{calendarId}/events',
  'POST /accounts/{accountId}/availability',
  'POST /accounts/{accountId}/calendars/{calendarId}/events',
  'GET /accounts/{accountId}/calendars/{calendarId}/events/{eventId}',
  'PATCH /accounts/{accountId}/calendars/{calendarId}/events/{eventId}',
  'POST /accounts/{accountId}/calendars/{calendarId}/events/{eventId}/respond',
  'DELETE /accounts/{accountId}/calendars/{calendarId}/events/{eventId}',
  'POST /accounts/{accountId}/contacts',
  'PATCH /accounts/{accountId}/contacts/{contactId}',
  'DELETE /accounts/{accountId}/contacts/{contactId}',
  'POST /accounts/{accountId}/contact-groups',
  'PATCH /accounts/{accountId}/contact-groups/{groupId}',
  'DELETE /accounts/{accountId}/contact-groups/{groupId}',
  'DELETE /accounts/{accountId}/messages/{messageId}',
  'DELETE /accounts/{accountId}/labels/{labelId}',
  'DELETE /accounts/{accountId}',
  'DELETE /webhooks/endpoints/{endpointId}',
  'DELETE /connections/{connectionId}',
  'DELETE /api-keys/{apiKeyId}',
]

/** Just after the arrival of the invoice in the examples of the events. */
const BEGINS_MS = Date.parse('2026-11-20T08:00:00.000Z')
const PUBLIC_URL = 'http://localhost:8080'
const ADA = 'ada@acme.example'
const PASSWORD = 'correct horse battery staple'
const ALAN = 'alan@acme.example'
const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'

/** The values of the examples that the service, or the network, determines. */
const SHOWN = {
  account: 'acc_01k9zv3h5q8m2n4p6r7s8t9vwx',
  hostedAccount: 'acc_01k9zwqe8g1j3m5p7r9t2v4x6z',
  gmailAccount: 'acc_01k9zx2c4e6g8j1m3p5r7t9v1x',
  tenantAccount: 'acc_01k9zy5b8d1f3h6k8n2q4s7v9x',
  calendar: 'cal_01k9zx2m5p7r9t2v4x6z8b1d3f',
  calendarEvent: 'cev_01k9zx2n7q9s1v3x5z7b9d2f4h',
  invitation: 'cev_01k9zx2p8r1t3v5x7z9b2d4f6h',
  contact: 'cnt_01k9zy3c5e7g9j2m4p6r8t1v3x',
  createdContact: 'cnt_01k9zy4d6f8h1k3n5q7s9v2x4z',
  addressBook: 'cbk_01k9zv5d7f9h2k4n6q8s1t3v5x',
  contactGroup: 'cgr_01k9zv6e8g1j3m5p7r9t2v4w6y',
  createdGroup: 'cgr_01k9zy5e7g9j2m4p6r8t1v3x5z',
  createdEvent: 'cev_01k9zx4d6f8h1k3m5p7r9t2v4x',
  hold: 'hld_01k9zz6f5h7k9n2q4s6v8x1z3b',
  booking: 'bkg_01k9zz6h8k1n3q5s7v9x2z4b6d',
  bookingToken: 'Jx4vQ2mT8rWc6Zb1NyLh9KsP3fGd5AeR7uVo0iXkYtM',
  bookingJob: 'btk_01k9zz6k2m4p6r8t1v3x5z7b9d',
  inbox: 'lbl_01k9zv3j1c3e5g7j9m1p3r5t7v',
  message: 'msg_01k9zw5e7t1v3x5z7b9d1f3h5k',
  thread: 'thr_01k9zwtvqmpvrfjf9ttty4hk6f',
  endpoint: 'whe_01k9zv5d7f9h2k4n6q8s1v3x5z',
  event: 'evt_01k9zw5e9w2y4z6b8d1f3h5k7n',
  delivery: 'dlv_01k9zw5ehq4s6v8x1z3b5d7f9h',
  draft: 'drf_01k9zwb2f4h6k8n1q3s5v7x9z2',
  outbox: 'obx_01k9zw8q9z2b4d6f8h1k3n5q7s',
  tracking: 'trk_01k9zw8r2d5f7h9k1n3q5s7v9x',
  trackingToken: 'p7Kx2mQv9RtWc4Zb6NyLh3Js',
  failedOutbox: 'obx_01k9zw8w1d3f5h7k9m2p4r6t8v',
  session: 'q3Vt8nXo2yLr5wKj9cZb1uHd6mPs4gAe7fTiRk0NvBY',
  gmailSession: 'x7Bn2kWp9sDf4hJq1zTg8vYc5mRl3oUe6aKi0yXwQtM',
  gmailState: 'W8fJ2rTq6vKx1nBz5cYm9sLd3hPg7oEa4uRi0kXtVwQ',
  gmailCode: '4-0AbCd3fGh1jKlMn0pQrStUvWxYz',
  connection: 'con_01k9zy2a4c6e8g1j3m5p7r9t2v',
  tenantSecret: 'Q~8xW2mQ7cB5nJ8pL4hF6dS1gA0yZuXoEiKt8sQe',
  apiKey: 'key_01k9zz8b2d4f6h8k1m3p5r7t9v',
  apiKeyText: 'phk_Rk3vT9xW2mQ7cB5nJ8pL4hF6dS1gA0yZuXoEiKt8sQe',
  webhookUrl: 'https://acme.example/hooks/posthorn',
  googleUrl: 'https://accounts.google.com',
  googleClient: 'posthorn-example.apps.googleusercontent.com',
} as const

/** @param node the program of Node that runs the service. Default: the one that runs the tests. */
export async function startApiStory(node = process.execPath): Promise<ApiStory> {
  const closers: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (let step = closers.pop(); step !== undefined; step = closers.pop()) await step()
  }
  try {
    const [dovecot, receiver, google, smtp, microsoft, contacts] = await Promise.all([
      startDovecot(),
      startReceiver(),
      googleSite(),
      startSmtpSink(),
      startMicrosoft(),
      startRadicale(),
    ])
    closers.push(
      () => dovecot.stop(),
      () => receiver.close(),
      () => google.server.close(),
      () => smtp.close(),
      () => microsoft.close(),
      () => contacts.stop(),
    )
    for (const user of ['maya', 'noah']) microsoft.addUser(`${user}@contoso.example`, { tenant: TENANT })
    microsoft.applications.consent(TENANT)
    for (const user of [ADA, ALAN]) await dovecot.addUser(user, PASSWORD)
    await writeContacts(contacts)
    google.server.addUser(GMAIL_USER)
    for (const event of [STANDUP, INVITATION]) google.server.calendars.put(GMAIL_USER, GMAIL_USER, event)
    google.server.allowRedirect(`${PUBLIC_URL}/providers/gmail/callback`)
    const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-story-'))
    closers.push(() => rm(dataDir, { recursive: true, force: true }))
    const service = await startServiceProcess({
      node,
      dataDir,
      env: {
        ...google.server.settings,
        // Without a client: only connections bring credentials.
        MICROSOFT_LOGIN_URL: microsoft.url,
        MICROSOFT_GRAPH_URL: microsoft.url,
        ...shiftedClock(BEGINS_MS),
        PUBLIC_URL,
        LOG_LEVEL: 'info',
        API_REQUESTS_PER_MINUTE: '0',
        CONTACTS_ENABLED: 'true',
      },
    })
    closers.push(async () => {
      const code = await service.stop()
      if (code !== 0) throw new Error(`The service exited with ${code}: ${service.output().slice(-2000)}`)
    })
    return { ...replay({ service, dovecot, receiver, google, smtp, contacts, folder: dataDir }), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Ada's address book. */
async function writeContacts(server: Radicale): Promise<void> {
  await server.addUser(ADA, PASSWORD)
  const book = await server.makeBook(ADA, 'contacts')
  const lin = vcard(
    'lin',
    {
      displayName: 'Lin Moreau',
      givenName: 'Lin',
      surname: 'Moreau',
      birthday: '1985-04-12',
      companyName: 'Northwind',
      jobTitle: 'Buyer',
      emails: [{ email: 'lin@northwind.example', type: 'work' }],
      phoneNumbers: [{ number: '+33 1 70 18 00 00', type: 'work' }],
      categories: ['Customers'],
    },
    [`PHOTO;ENCODING=b;TYPE=PNG:${PNG}`],
  )
  await server.request(ADA, 'PUT', `${book}lin.vcf`, lin)
}

interface Servers {
  service: ServiceProcess
  dovecot: Dovecot
  receiver: Receiver
  google: Awaited<ReturnType<typeof googleSite>>
  smtp: SmtpSink
  contacts: Radicale
  /** For files that samples download. */
  folder: string
}

function replay({ service, dovecot, receiver, google, smtp, contacts, folder }: Servers): Omit<ApiStory, 'close'> {
  const owner = api(service.url, service.key)
  const { bind, toReal, toShown } = exampleValues()
  bind(SHOWN.webhookUrl, receiver.url)
  bind(SHOWN.tenantSecret, 'tenant-secret')
  bind(SHOWN.googleUrl, google.server.url)
  bind(SHOWN.googleClient, google.server.client.id)

  let hasSent = false
  /** Binds the values that a request created. */
  const after: Readonly<Record<string, (response: ApiResponse) => Promise<void>>> = {
    'POST /webhooks/endpoints': async ({ json }) => bind(SHOWN.endpoint, json.id),

    async 'POST /accounts'({ json }) {
      const path = `/accounts/${json.id}`
      await eventually(async () => (await owner.get(path)).json.status === 'connected')
      if (json.connectionId !== null) return bind(SHOWN.tenantAccount, json.id)
      bind(SHOWN.account, json.id)
      await dovecot.deliver(ADA, INVOICE, { date: new Date('2026-11-20T07:59:58Z') })
      const delivery = await eventually(async () => {
        const { deliveries } = (await owner.get('/webhooks/deliveries?status=success')).json
        return deliveries.find(({ eventType }: { eventType: string }) => eventType === 'message.received') ?? false
      })
      const { messages } = (await owner.get(`${path}/messages`)).json
      bind(SHOWN.delivery, delivery.id)
      bind(SHOWN.event, delivery.eventId)
      bind(SHOWN.message, messages[0].id)
      bind(SHOWN.thread, messages[0].threadId)
      bind(SHOWN.inbox, messages[0].labelIds[0])
      await eventually(async () => (await owner.get(`${path}/contacts`)).json.syncedAt !== null)
      const [lin] = (await owner.get(`${path}/contacts`)).json.contacts
      bind(SHOWN.contact, lin.id)
      bind(SHOWN.addressBook, lin.addressBookId)
      bind(SHOWN.contactGroup, lin.groups[0].id)
    },

    /** A second message, which its recipient's server refuses, for the examples that resolve one. */
    async 'POST /accounts/{accountId}/messages/send'({ json }) {
      if (hasSent) return
      hasSent = true
      bind(SHOWN.outbox, json.outboxId)
      bind(SHOWN.tracking, json.result.tracking.id)
      bind(SHOWN.trackingToken, json.result.tracking.token)
      const visit = { redirect: 'manual', headers: { 'user-agent': 'Mozilla/5.0 (Macintosh)' } } as const
      for (const [path, status] of [
        ['.gif', 200],
        ['/1', 302],
      ] as const) {
        const seen = await fetch(`${service.url}/t/${json.result.tracking.token}${path}`, visit)
        await seen.arrayBuffer()
        if (seen.status !== status) throw new Error(`The tracking URL ${path} returned ${seen.status}.`)
      }
      smtp.behave({ recipient: () => 550 })
      const { accountId } = (await owner.get(`/outbox/${json.outboxId}`)).json
      const message = { to: ['ar@northwind.example'], subject: 'Invoice 2026-0815', body: 'Thank you.' }
      const { outboxId } = (await owner.post(`/accounts/${accountId}/messages/send`, message)).json
      await eventually(async () => (await owner.get(`/outbox/${outboxId}`)).json.status === 'failed')
      bind(SHOWN.failedOutbox, outboxId)
    },

    'POST /accounts/{accountId}/contact-groups': async ({ json }) => bind(SHOWN.createdGroup, json.id),

    'POST /accounts/{accountId}/contacts': async ({ json }) => bind(SHOWN.createdContact, json.id),

    'POST /drafts': async ({ json }) => bind(SHOWN.draft, json.id),

    'POST /connections': async ({ json }) => bind(SHOWN.connection, json.id),

    async 'POST /api-keys'({ json }) {
      bind(SHOWN.apiKey, json.id)
      bind(SHOWN.apiKeyText, json.key)
    },

    /** A connection is deleted after its accounts. */
    async 'DELETE /accounts/{accountId}'() {
      const { accounts } = (await owner.get('/accounts?limit=200')).json
      for (const { id, connectionId } of accounts) if (connectionId !== null) await owner.delete(`/accounts/${id}`)
    },

    'POST /scheduler/experiences/{slug}/holds': async ({ json }) => bind(SHOWN.hold, json.id),

    async 'POST /scheduler/experiences/{slug}/bookings'({ json }) {
      bind(SHOWN.booking, json.id)
      bind(SHOWN.bookingToken, new URL(json.links.cancel).searchParams.get('token') ?? '')
      const { jobs } = (await owner.get(`/scheduler-queue/jobs?bookingId=${json.id}&type=reminder`)).json
      bind(SHOWN.bookingJob, jobs[0].id)
    },

    async 'POST /auth/sessions'({ json }) {
      bind(SHOWN.session, json.code)
      const second = await owner.post('/auth/sessions', { redirectUri: 'https://acme.example/mailbox-connected' })
      bind(SHOWN.gmailSession, second.json.code)
    },

    async 'POST /auth/authorize/imap'() {
      const { accounts } = (await owner.get('/accounts')).json
      const connected = accounts.find(({ email }: { email: string }) => email === ALAN)
      bind(SHOWN.hostedAccount, connected.id)
    },

    async 'POST /auth/sessions/{code}/start'({ json }) {
      const { searchParams } = new URL(await google.consent(json.authorizationUrl, GMAIL_USER))
      bind(SHOWN.gmailState, searchParams.get('state') ?? '')
      bind(SHOWN.gmailCode, searchParams.get('code') ?? '')
    },

    async 'GET /providers/{providerName}/callback'({ headers }) {
      const location = new URL(headers.get('location') ?? PUBLIC_URL)
      bind(SHOWN.gmailAccount, location.searchParams.get('accountId') ?? '')
    },

    async 'GET /accounts/{accountId}/calendars'({ json }) {
      const [{ id, accountId }] = json.calendars
      bind(SHOWN.calendar, id)
      const path = `/accounts/${accountId}/calendars/${id}/events`
      const list = await eventually(async () => {
        const read = (await owner.get(path)).json
        return read.source === 'stored' ? read : false
      })
      const findId = ({ id }: { id: string }) =>
        list.events.find(({ providerEventId }: { providerEventId: string }) => providerEventId === id).id
      bind(SHOWN.calendarEvent, findId(STANDUP))
      bind(SHOWN.invitation, findId(INVITATION))
    },

    'POST /accounts/{accountId}/calendars/{calendarId}/events': async ({ json }) => bind(SHOWN.createdEvent, json.id),
  }

  /** The mail server of the examples is at another address here, with a certificate of its own. */
  function withMailServer(body: Json): Json {
    if (typeof body !== 'object' || body === null || Array.isArray(body) || !('host' in body)) return body
    const sending = { smtpHost: smtp.host, smtpPort: smtp.port, smtpSecure: false }
    const dav = 'email' in body && body.email === ADA ? { caldavUrl: contacts.url } : {}
    return { ...body, host: dovecot.host, port: dovecot.imapsPort, allowSelfSigned: true, ...sending, ...dav }
  }

  async function sendSamples(
    operation: string,
    index: number,
    { headers = {}, files = [] }: ExampleRequest,
  ): Promise<ApiResponse> {
    const isHeader = (line: string) =>
      Object.entries(headers).some(([name, value]) => line.includes(name) && line.includes(value))
    const samples = described(operation).operation['x-codeSamples']
    const [curl, typescript] = ['Shell', 'TypeScript'].map((lang) => {
      const { source = '' } = samples.filter((sample) => sample.lang === lang)[index] ?? {}
      // Headers are sent as they are shown.
      const parts = source.split('\n').map((line) => (isHeader(line) ? line : toReal(line)))
      return parts.join('\n').replace(PUBLIC_URL, service.url)
    })
    let received: ApiResponse | undefined
    const send: typeof fetch = async (url, options = {}) => {
      const { body } = options
      const sent = typeof body === 'string' ? JSON.stringify(withMailServer(JSON.parse(body))) : body
      const response = await readResponse(String(url), {
        ...options,
        ...(sent !== undefined && { body: sent }),
      })
      received = response
      const isEmpty = response.text === '' || [204, 304].includes(response.status)
      return new Response(isEmpty ? null : response.text, { status: response.status, headers: response.headers })
    }
    const ran = await runTypescript({ source: typescript ?? '', key: service.key, send, files }).catch((error) => error)
    if (received === undefined) throw ran
    if (received.status < 400 && ran instanceof Error) throw ran
    if (received.status < 400 && operation.startsWith('GET ') && !isOnce(operation)) {
      const status = await runCurl(curl ?? '', service.key, folder)
      if (status !== received.status) throw new Error(`curl got ${status}, TypeScript ${received.status}: ${curl}`)
    }
    return received
  }

  return {
    service,
    toShown,
    realBody: (body) => JSON.parse(toReal(JSON.stringify(withMailServer(body)))),
    async send(operation, example) {
      const { request = {}, response } = example
      const [method = '', template = ''] = operation.split(' ')
      const { path = {}, query = {}, headers = {}, body, files } = request
      const at = template.replaceAll(/\{(\w+)\}/g, (_match, name) => encodeURIComponent(toReal(path[name] ?? '')))
      const search = new URLSearchParams(
        Object.entries(query).map(([name, value]): [string, string] => [name, toReal(String(value))]),
      )
      const json = body === undefined ? undefined : toReal(JSON.stringify(withMailServer(body)))
      const sent = files === undefined ? json : multipart(json ?? '{}', files)
      const options = { headers, ...(sent !== undefined && { body: sent }) }
      const url = `${at}?${search}`
      const authorization = `Bearer ${service.key}`
      const sendPlainly = () =>
        operation.endsWith('/stream')
          ? readResponse(service.url + url, { headers: { authorization, ...headers } })
          : owner.request(method, url, options)
      const index = working(examples[operation] ?? []).findIndex((one) => one.request === example.request)
      const received = index === -1 ? await sendPlainly() : await sendSamples(operation, index, request)
      if (received.status === response.status && response.status < 400) await after[operation]?.(received)
      return received
    },
  }
}

function multipart(message: string, files: readonly ExampleFile[]): FormData {
  const form = new FormData()
  form.set('message', message)
  for (const { part, filename, contentType, content } of files) {
    form.append(part, new Blob([content], { type: contentType }), filename)
  }
  return form
}

/** Streams never end, and a callback of a provider works once. */
const isOnce = (operation: string) => operation.endsWith('/stream') || operation.endsWith('/callback')

/** The response to a request; of a stream up to its first event. */
async function readResponse(url: string, options: RequestInit): Promise<ApiResponse> {
  const ended = new AbortController()
  const response = await fetch(url, {
    redirect: 'manual',
    ...options,
    signal: AbortSignal.any([ended.signal, AbortSignal.timeout(300_000)]),
  })
  const { status, headers } = response
  const type = headers.get('content-type') ?? ''
  if (!type.startsWith('text/event-stream')) {
    const text = await response.text()
    return { status, headers, text, json: /\bjson\b/.test(type) && text !== '' ? JSON.parse(text) : undefined }
  }
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    const event = /^event: [\s\S]*?\n\n/m.exec(text)
    if (event === null) continue
    text = text.slice(0, event.index + event[0].length)
    break
  }
  ended.abort()
  return { status, headers, text, json: undefined }
}

const INVOICE = attachmentMail({
  from: 'Northwind Billing <billing@northwind.example>',
  to: 'Ada Okafor <ada@acme.example>',
  subject: 'Invoice 2026-0815',
  messageId: '<invoice-2026-0815@billing.example.com>',
  date: 'Fri, 20 Nov 2026 07:59:57 +0000',
  headers: ['Reply-To: Accounts receivable <ar@northwind.example>'],
  text: 'Hello Ada,\r\n\r\nplease find attached our invoice for November.\r\n',
  attachments: [
    {
      filename: 'invoice-2026-0815.pdf',
      contentType: 'application/pdf',
      content: Buffer.from('%PDF-1.4\n1 0 obj << /Type /Catalog >> endobj\ntrailer << /Root 1 0 R >>\n%%EOF\n'),
    },
  ],
})
