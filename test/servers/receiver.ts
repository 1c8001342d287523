import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'

/** One received request. */
export interface Received {
  method: string
  path: string
  headers: IncomingHttpHeaders
  /** Names and values in wire order. */
  rawHeaders: string[]
  body: string
  /** On this process's monotonic clock. */
  atMs: number
}

/** The response to one request. `hang` never responds, `reset` closes the connection, `stall` sends headers and half a body. */
export type ReceiverResponse =
  | {
      status?: number
      headers?: Record<string, string>
      body?: string | Buffer
      delayMs?: number
      /** Responds once it resolves. */
      after?: Promise<unknown>
    }
  | 'hang'
  | 'reset'
  | 'stall'

export interface ReceiverOptions {
  /** Serves TLS with this certificate. */
  tls?: { key: string; cert: string }
  /** Default 127.0.0.1. */
  host?: string
  /** Default: any free port. */
  port?: number
}

/** A real HTTP server that records webhooks and responds as scripted. */
export interface Receiver {
  url: string
  readonly requests: Received[]
  /** Requests in progress, and their maximum so far. */
  readonly open: number
  readonly mostOpen: number
  /** Queues responses to use once each, before the default one. */
  script(...responses: ReceiverResponse[]): void
  /** Sets the default response. Initially 204. */
  always(scriptedResponse: ReceiverResponse | ((request: Received) => ReceiverResponse)): void
  /** Throws unless the published libraries accept every request, or each of the given ones. */
  verify(secret: string, requests?: readonly Received[]): void
  close(): Promise<void>
}

export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const requests: Received[] = []
  const scripted: ReceiverResponse[] = []
  let fallback: ReceiverResponse | ((request: Received) => ReceiverResponse) = {}
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
    const scriptedResponse = scripted.shift() ?? (typeof fallback === 'function' ? fallback(received) : fallback)
    respond(response, scriptedResponse)
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
    script: (...responses) => void scripted.push(...responses),
    always(scriptedResponse) {
      fallback = scriptedResponse
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

/** The published libraries that applications verify webhooks with. */
export const LIBRARIES: readonly Library[] = ['standardwebhooks', 'svix']

/**
 * The library's verifier for this secret. `whsec_…` is base64. Any other text is passed as UTF-8 bytes, because the raw
 * format of a string uses one byte per character.
 */
export function verifier(library: Library, secret: string): Webhook | SvixWebhook {
  const Verifier = library === 'svix' ? SvixWebhook : Webhook
  return secret.startsWith('whsec_')
    ? new Verifier(secret)
    : new Verifier(new TextEncoder().encode(secret), { format: 'raw' })
}

/** Throws unless the library accepts the request. Returns the parsed body. */
export function verifyWith(library: Library, secret: string, request: Pick<Received, 'body' | 'headers'>): unknown {
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return verifier(library, secret).verify(request.body, Object.fromEntries(headers))
}

/** Throws unless all libraries accept the request. */
export function verifyRequest(secret: string, request: Pick<Received, 'body' | 'headers'>): void {
  for (const library of LIBRARIES) verifyWith(library, secret, request)
}

/** Undefined when the sender disconnects before the end, for example because it was killed. */
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

function respond(response: ServerResponse, scriptedResponse: ReceiverResponse): void {
  if (scriptedResponse === 'hang') return
  if (scriptedResponse === 'reset') {
    response.socket?.destroy()
    return
  }
  if (scriptedResponse === 'stall') {
    response.writeHead(200, { 'content-length': '100' }).write('half')
    return
  }
  const send = () =>
    response.writeHead(scriptedResponse.status ?? 204, scriptedResponse.headers).end(scriptedResponse.body)
  const { delayMs, after } = scriptedResponse
  if (after !== undefined) void after.then(send)
  else if (delayMs === undefined) send()
  else setTimeout(send, delayMs)
}
