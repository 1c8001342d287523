import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'

/** One request as it arrived. */
export interface Received {
  method: string
  path: string
  headers: IncomingHttpHeaders
  /** Names and values as they came over the wire, in order. */
  rawHeaders: string[]
  body: string
  /** On this process's monotonic clock. */
  atMs: number
}

/** What the receiver does with one request. `hang` never answers; `reset` cuts the connection; `stall` sends headers and no end. */
export type Answer =
  | { status?: number; headers?: Record<string, string>; body?: string | Buffer; delayMs?: number }
  | 'hang'
  | 'reset'
  | 'stall'

export interface ReceiverOptions {
  /** Answers over TLS with this certificate. */
  tls?: { key: string; cert: string }
  /** Default 127.0.0.1. */
  host?: string
  /** Default any that is free. */
  port?: number
}

/** An application that takes webhooks, for tests: a real server that records what came and answers as it is told. */
export interface Receiver {
  url: string
  readonly requests: Received[]
  /** Requests being answered now, and the most there ever were at once. */
  readonly open: number
  readonly mostOpen: number
  /** Answers used up one by one before the standing one. */
  script(...answers: Answer[]): void
  /** Every request from now on, after the script; default 204. */
  always(answer: Answer | ((request: Received) => Answer)): void
  /** Throws unless the signature of every request (or of these) is good, as the published libraries see it. */
  verify(secret: string, requests?: readonly Received[]): void
  close(): Promise<void>
}

export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const requests: Received[] = []
  const scripted: Answer[] = []
  let standing: Answer | ((request: Received) => Answer) = {}
  let open = 0
  let mostOpen = 0

  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    open += 1
    mostOpen = Math.max(mostOpen, open)
    response.once('close', () => {
      open -= 1
    })
    const received = await read(request)
    if (received === undefined) return
    requests.push(received)
    const answer = scripted.shift() ?? (typeof standing === 'function' ? standing(received) : standing)
    give(response, answer)
  }
  const server = options.tls === undefined ? createServer(listener) : createTlsServer(options.tls, listener)
  const host = options.host ?? '127.0.0.1'
  server.listen(options.port ?? 0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  let closing: Promise<void> | undefined

  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://${host}:${port}/hook`,
    requests,
    get open() {
      return open
    },
    get mostOpen() {
      return mostOpen
    },
    script: (...answers) => void scripted.push(...answers),
    always(answer) {
      standing = answer
    },
    verify(secret, which = requests) {
      for (const request of which) verifyRequest(secret, request)
    },
    close() {
      closing ??= new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
      return closing
    },
  }
}

export type Library = 'standardwebhooks' | 'svix'

/** The published libraries with which an application may verify what it gets. */
export const LIBRARIES: readonly Library[] = ['standardwebhooks', 'svix']

/**
 * The library's own verifier for this secret. `whsec_…` is base64; any other text is its UTF-8 bytes, which it must be given
 * as such: of a text in the raw format it takes one byte per character.
 */
export function verifier(library: Library, secret: string): Webhook | SvixWebhook {
  const Verifier = library === 'svix' ? SvixWebhook : Webhook
  return secret.startsWith('whsec_')
    ? new Verifier(secret)
    : new Verifier(new TextEncoder().encode(secret), { format: 'raw' })
}

/** Throws unless the published library accepts the request; answers the body it read. */
export function verifyWith(library: Library, secret: string, request: Pick<Received, 'body' | 'headers'>): unknown {
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return verifier(library, secret).verify(request.body, Object.fromEntries(headers))
}

/** Throws unless all of them accept it. */
export function verifyRequest(secret: string, request: Pick<Received, 'body' | 'headers'>): void {
  for (const library of LIBRARIES) verifyWith(library, secret, request)
}

/** Undefined when the sender went away in the middle: what a killed process left half-said is no request. */
async function read(request: IncomingMessage): Promise<Received | undefined> {
  const atMs = performance.now()
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk)
  } catch {
    return undefined
  }
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    body: Buffer.concat(chunks).toString('utf8'),
    atMs,
  }
}

function give(response: ServerResponse, answer: Answer): void {
  if (answer === 'hang') return
  if (answer === 'reset') {
    response.socket?.destroy()
    return
  }
  if (answer === 'stall') {
    response.writeHead(200, { 'content-length': '100' }).write('half')
    return
  }
  const send = () => response.writeHead(answer.status ?? 204, answer.headers).end(answer.body)
  if (answer.delayMs === undefined) send()
  else setTimeout(send, answer.delayMs)
}
