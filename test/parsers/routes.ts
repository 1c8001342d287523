import { Agent, request } from 'node:http'
import { Readable } from 'node:stream'
import { sendContent } from '../../src/mail/messages/downloads.ts'
import { lazy } from '../../src/platform/concurrency/lazy.ts'
import { ifMatchVersion } from '../../src/platform/http/index.ts'
import { testServer } from '../kit/http/server.ts'
import { type Service, startService } from '../kit/service/service.ts'
import { buildCases, type HostileCase } from './hostile-case.ts'
import { filled, type Shape } from './mime.ts'
import { JSON_TEXTS } from './providers.ts'

const KB = 1024

/** A request by a stranger to a route of the complete service. */
interface Sent {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: string
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const service = lazy(async (): Promise<Service> => {
  const started = await startService()
  const body = JSON.stringify({ slug: 'intro-call', name: 'Intro call', allowedOrigins: ['*'] })
  const status = await send(started, { method: 'POST', path: '/scheduler/experiences', body })
  if (status !== 201) throw new TypeError(`The experience was not created (${status}).`)
  return started
})

/** Ends the service that the cases share. */
export async function stopService(): Promise<void> {
  agent.destroy()
  await (await service()).stop()
}

/** As the application, which shares no rate limits with the public. Returns the status. */
function send({ url, key }: Service, { method = 'GET', path, headers, body }: Sent): Promise<number> {
  return new Promise((resolve, reject) => {
    const all = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers }
    const sent = request(`${url}/`, { method, path, headers: all, agent }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode ?? 0))
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

function routeCases(parser: string, shapes: [shape: string, size: number, sent: (size: number) => Sent][]) {
  return buildCases(
    parser,
    {},
    shapes.map(([shape, size, sent]) => ({
      shape,
      size,
      prepare(length: number) {
        const made = sent(length)
        return async () => {
          const status = await send(await service(), made)
          // Such a case would measure nothing.
          if (status === 429 || status >= 500) throw new TypeError(`The service responded ${status}.`)
        }
      },
    })),
  )
}

/** Node accepts a request line and headers of 16 kB together. */
const TARGET = 15 * KB
const QUERIES: Shape[] = [
  ['names', (size) => Array.from({ length: size / 7 }, (_, at) => `a${at}=b`).join('&')],
  ['a repeated name', filled('locale=a', '&locale=a')],
  ['a long value', filled('locale=', 'a')],
  ['a long origin', filled('origin=https://', 'a.')],
  ['languages', filled('locale=', 'de-')],
  ['escapes', filled('timezone=', '%41')],
  ['characters to escape', filled('theme=', '%22')],
  ['names of prototypes', filled('__proto__=a', '&constructor=a')],
]
const PAGES = ['/book/intro-call', '/embed/intro-call', '/book/intro-call/bookings/bkg_1']

const TOKENS: Shape[] = [
  ['a long token', filled('', 'a')],
  ['dots', filled('', '.')],
  ['endings', filled('', '.gif')],
  ['escapes', filled('', '%41')],
  ['slashes', filled('', 'a/')],
  ['digits', filled('a/', '1')],
]

const NOTIFICATIONS = '/providers/microsoft/notifications'
/** The longest body of a notification. */
const NOTIFICATION = 256 * KB
const notifications = (size: number, members: (at: number) => object) =>
  JSON.stringify({ value: Array.from({ length: size }, (_, at) => members(at)) })

const NOTIFICATION_BODIES: [shape: string, size: number, body: (size: number) => string][] = [
  ...JSON_TEXTS.map(([shape, text]): [string, number, (size: number) => string] => [shape, NOTIFICATION, text]),
  ['notifications', 1000, (size) => notifications(size, (at) => ({ subscriptionId: `${at}`, clientState: 'a' }))],
  ['more notifications than are read', 5000, (size) => notifications(size, (at) => ({ subscriptionId: `${at}` }))],
  ['the same notification', 1000, (size) => notifications(size, () => ({ subscriptionId: 'a', clientState: 'a' }))],
  [
    'lifecycle events',
    1000,
    (size) => notifications(size, (at) => ({ subscriptionId: `${at}`, lifecycleEvent: 'subscriptionRemoved' })),
  ],
  ['long ids', 600, (size) => notifications(size, () => ({ subscriptionId: 'a'.repeat(400) }))],
]

const CONTENT = {
  contentType: 'text/plain',
  filename: 'a.txt',
  key: 'a',
  sizeBytes: 1000,
  measure: async () => 1000,
  read: async () => Readable.from(['a'.repeat(1000)]),
}
const downloads = lazy(() => {
  const app = testServer()
  app.get('/content', { config: { access: 'public' } }, (request, reply) => sendContent(request, reply, CONTENT))
  app.get('/version', { config: { access: 'public' } }, async ({ headers }) => ({
    at: ifMatchVersion(headers['if-match']),
  }))
  return app
})

const CONDITIONS: Shape[] = [
  ['ranges', filled('bytes=0-1', ',0-1')],
  ['spaces of a range', filled('bytes=', ' ', 'x')],
  ['spaces after a range', filled('bytes=0-1', ' ', 'x')],
  ['digits of a range', filled('bytes=', '1', '-')],
  ['digits of a range without a dash', filled('bytes=', '1')],
  ['dashes of a range', filled('bytes=', '-')],
  ['tags', filled('"a"', ',"a"')],
  ['weak tags', filled('W/"a"', ',W/"a"')],
  ['prefixes of weak tags', filled('', 'W/')],
  ['quotes', filled('', '"')],
  ['commas', filled('', ',')],
  ['spaces', filled('a', ' ', 'a')],
  ['digits', filled('"', '1')],
  ['stars', filled('', '*,')],
]

export const ROUTES: HostileCase[] = [
  ...buildCases(
    'conditions of downloads',
    {},
    CONDITIONS.map(([shape, text]) => ({
      shape,
      size: 15 * KB,
      prepare(size: number) {
        const value = text(size)
        const inject = (url: string, name: string) => downloads().inject({ url, headers: { [name]: value } })
        return async () => {
          for (const name of ['range', 'if-range', 'if-none-match']) await inject('/content', name)
          await inject('/version', 'if-match')
        }
      },
    })),
  ),
  ...routeCases(
    'what a link gives a booking page',
    PAGES.flatMap((page) =>
      QUERIES.map(([shape, text]): [string, number, (size: number) => Sent] => [
        `${page} with ${shape}`,
        TARGET,
        (size) => ({ path: `${page}?${text(size - page.length)}`, headers: { accept: 'text/html' } }),
      ]),
    ),
  ),
  ...routeCases(
    'tracking links',
    TOKENS.flatMap(([shape, text]) =>
      ['.gif', '/1'].map((ending): [string, number, (size: number) => Sent] => [
        `${shape}, then ${ending}`,
        TARGET,
        (size) => ({ path: `/t/${text(size)}${ending}` }),
      ]),
    ),
  ),
  ...routeCases(
    'notifications of Graph',
    NOTIFICATION_BODIES.map(([shape, size, body]): [string, number, (size: number) => Sent] => [
      shape,
      size,
      (count) => ({ method: 'POST', path: NOTIFICATIONS, body: body(count) }),
    ]),
  ),
  ...routeCases('notifications of Google', [
    [
      'a body',
      NOTIFICATION,
      (size) => ({ method: 'POST', path: '/providers/gmail/notifications', body: 'a'.repeat(size) }),
    ],
    [
      'long headers',
      TARGET,
      (size) => ({
        method: 'POST',
        path: '/providers/gmail/notifications',
        headers: { 'x-goog-channel-id': 'a'.repeat(size / 2), 'x-goog-channel-token': 'a'.repeat(size / 2) },
      }),
    ],
    [
      'headers',
      TARGET,
      (size) => ({
        method: 'POST',
        path: '/providers/gmail/notifications',
        headers: Object.fromEntries(Array.from({ length: size / 20 }, (_, at) => [`x-goog-a${at}`, 'a'])),
      }),
    ],
  ]),
]
