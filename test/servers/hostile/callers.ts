import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { CHUNK, pour } from './pour.ts'

export interface CallerOptions {
  /** The service. */
  url: string
  /** Codes of open sessions: links that reached a stranger. */
  codes: readonly string[]
  /** A booking page, and a booking of it whose links a stranger does not have. */
  page: { slug: string; bookingId: string }
  random: () => number
}

export interface Callers {
  /** How many requests each kind of caller made. */
  counts: Readonly<Record<string, number>>
  stop(): Promise<void>
}

const KILOBYTE = 1024
const PAUSE_MS = 50
const SLOW_CONNECTIONS = 40
const HALF_HOUR_MS = 30 * 60_000
const FORM = 'application/x-www-form-urlencoded'

/** Strangers on the network, each at a loopback address of its own: hostile links, forms, notifications, and connections that drip. */
export function startCallers({ url, codes, page, random }: CallerOptions): Callers {
  const { hostname, port } = new URL(url)
  const counts: Record<string, number> = {}
  let isStopped = false
  const slow = new Set<Socket>()
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T
  const code = () => pick([...codes, 'x'.repeat(43), 'y'.repeat(8000)])

  /** Resolves when the response has ended or failed. */
  function call(from: string, method: string, path: string, type: string, body: string): Promise<void> {
    return new Promise((resolve) => {
      const headers = {
        'content-type': type,
        'content-length': Buffer.byteLength(body),
        accept: pick(['text/html', '*/*']),
      }
      const sent = request(
        { hostname, port, method, path, headers, localAddress: from, timeout: 20_000 },
        (response) => {
          response.resume().on('close', resolve)
        },
      )
      sent.on('timeout', () => sent.destroy()).on('error', () => resolve())
      sent.end(body)
    })
  }

  const manyNames = () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `n${index}=`).join('&')
    return `session=${code()}&state=s&${names}`.slice(0, 1000 * KILOBYTE)
  }
  const deepJson = () => `{"session":"${code()}","state":"s","email":${'['.repeat(60 * KILOBYTE)}`
  const notification = () => {
    const rows = Array.from({ length: 10_000 }, (_, index) => `{"subscriptionId":"s${index}","clientState":"x"}`)
    return `{"value":[${rows.join()}]}`.slice(0, 1000 * KILOBYTE)
  }
  const imapForm = () =>
    new URLSearchParams({
      session: code(),
      state: 's',
      email: 'eve@mail.example',
      username: 'eve',
      password: 'x',
      host: pick(['127.0.0.1', '169.254.169.254', 'localhost', '[::1]', '10.0.0.1']),
      port: pick(['22', '25', '993', '6379']),
    }).toString()

  const scheduler = `/scheduler/experiences/${page.slug}`
  const json = (body: unknown) => JSON.stringify(body)
  /** Half an hour of the next fortnight. */
  const slot = () => {
    const startMs = (Math.floor(Date.now() / HALF_HOUR_MS) + 48 + Math.floor(random() * 650)) * HALF_HOUR_MS
    return { start: new Date(startMs).toISOString() }
  }
  const advertisement = () =>
    pick(['evil.example/x', 'Win at evil\u3002example', '<a href="https://evil.example">', 'www evil example'])
  const stranger = (name: string) => ({
    email: `${name}${Math.floor(random() * 1e6)}@mail.example`,
    name: advertisement(),
  })
  const booking = () => ({
    slot: slot(),
    guest: { ...stranger('victim'), timezone: 'Europe/Berlin' },
    attendees: Array.from({ length: 10 }, () => stranger('bystander')),
    responses: { notes: advertisement() },
  })

  const strangers: Record<string, (from: string) => Promise<void>> = {
    links: (from) =>
      call(
        from,
        pick(['GET', 'HEAD']),
        `/auth/authorize?session=${code()}&state=${'s'.repeat(3000)}`,
        'text/plain',
        '',
      ),
    names: (from) => call(from, 'POST', '/auth/authorize', FORM, manyNames()),
    deep: (from) =>
      call(from, 'POST', pick(['/auth/authorize', '/auth/authorize/imap']), 'application/json', deepJson()),
    start: (from) =>
      call(from, 'POST', `/auth/sessions/${code()}/start`, 'application/json', '{"provider":"gmail","state":"s"}'),
    ports: (from) =>
      call(from, 'POST', pick(['/auth/authorize/imap', '/auth/authorize/imap/folders']), FORM, imapForm()),
    notifications: (from) =>
      call(from, 'POST', '/providers/microsoft/notifications', 'application/json', notification()),
    callbacks: (from) =>
      call(from, 'GET', `/providers/gmail/callback?code=x&state=${'z'.repeat(2000)}`, 'text/plain', ''),
    bookings: (from) => call(from, 'POST', `${scheduler}/bookings`, 'application/json', json(booking())),
    holds: (from) => call(from, 'POST', `${scheduler}/holds`, 'application/json', json({ slot: slot() })),
    tokens: (from) =>
      call(from, 'POST', `/book/${page.slug}/bookings/${page.bookingId}?token=${code()}`, FORM, 'action=cancel'),
    prefill: (from) => call(from, 'GET', `/book/${page.slug}?${'name=%3Cx%3E&'.repeat(1000)}`, 'text/plain', ''),
    keys: (from) => call(from, 'GET', '/accounts', 'text/plain', ''),
  }

  const loops = Object.entries(strangers).map(async ([name, make], index) => {
    while (!isStopped) {
      counts[name] = (counts[name] ?? 0) + 1
      await make(`127.0.1.${index + 1}`)
      await sleep(PAUSE_MS)
    }
  })
  loops.push(...Array.from({ length: SLOW_CONNECTIONS }, (_, index) => slowConnection(`127.0.2.${index + 1}`)))

  /** Opens a connection that sends a header or a body one byte at a time, again and again. */
  async function slowConnection(from: string): Promise<void> {
    while (!isStopped) {
      counts.slow = (counts.slow ?? 0) + 1
      await new Promise<void>((resolve) => {
        const socket = connect({ host: hostname, port: Number(port), localAddress: from })
        const head = pick([
          'POST /auth/authorize HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{"a":"',
          'GET / HTTP/1.1\r\nX-Slow: ',
        ])
        socket.once('connect', () => {
          if (random() < 0.8) pour({ head, next: () => 'x', everyMs: 200 }, socket)
          else pour({ head: '', next: () => '\u0000\u00ff'.repeat(CHUNK) }, socket)
        })
        socket.on('error', () => {})
        slow.add(socket)
        socket.once('close', () => {
          slow.delete(socket)
          resolve()
        })
        // Read and ignore, so that the end of the connection is seen.
        socket.resume()
      })
      await sleep(PAUSE_MS)
    }
  }

  return {
    counts,
    async stop() {
      isStopped = true
      for (const socket of slow) socket.destroy()
      await Promise.all(loops)
    },
  }
}
