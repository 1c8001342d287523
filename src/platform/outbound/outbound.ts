import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { AbortCallbacks } from '../concurrency/abort.ts'
import type { AddressGuard } from '../net/index.ts'
import { type Outbound, OutboundError, type OutboundRequest, type OutboundResponse } from './contract.ts'
import { outboundError, timeoutError } from './failure.ts'
import { OutboundPools, type PoolEntry, type PoolLimits } from './pools.ts'

export interface OutboundDeps {
  guard: AddressGuard
  limits?: Partial<PoolLimits>
  /** Certificates to trust instead of the system's. For tests. */
  ca?: string
}

const LIMITS: PoolLimits = { perOrigin: 32, origins: 1000, sockets: 2000 }
const DEFAULT_RESPONSE_BYTES = 64 * 1024

/** Headers that belong to the connection. Those of the caller are not sent. */
const CONNECTION_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export function outbound(deps: OutboundDeps): Outbound {
  const pools = new OutboundPools({ ...LIMITS, ...deps.limits }, deps.ca)
  const exchanges = new Set<Exchange>()
  const aborts = new AbortCallbacks()
  let closing: Promise<void> | undefined

  /** Checks the address, then sends. The exchange may have timed out during the name lookup. */
  async function start(exchange: Exchange, url: URL, request: OutboundRequest): Promise<void> {
    const isTls = url.protocol === 'https:'
    try {
      const target = { host: url.hostname, port: Number(url.port) || (isTls ? 443 : 80) }
      const checked = await deps.guard.check(target)
      if (exchange.isOver) return
      if (!isTls && !deps.guard.allowsPlain(checked)) throw plainError(checked.host)
      exchange.use(pools.of(isTls ? 'https:' : 'http:', checked, request.connectionOwner), isTls)
      exchange.dispatch(url.pathname + url.search, request)
    } catch (error) {
      exchange.fail(outboundError(error, isTls))
    }
  }

  return {
    async send(request) {
      request.signal?.throwIfAborted()
      if (closing !== undefined) throw closedError()
      const url = parse(request.url)
      const exchange = new Exchange(request)
      exchanges.add(exchange)
      const { signal } = request
      const unfollow = signal && aborts.add(signal, (reason) => exchange.fail(reason))
      void start(exchange, url, request)
      try {
        return await exchange.response
      } finally {
        exchanges.delete(exchange)
        unfollow?.()
      }
    },
    close() {
      closing ??= pools.destroy(closedError())
      for (const exchange of exchanges) exchange.fail(closedError())
      return closing
    },
  }
}

/** One request and its response, as an undici handler. A stream and a signal per request would cost more than all the rest. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly response: Promise<OutboundResponse>
  readonly #maxBytes: number
  readonly #timer: NodeJS.Timeout
  readonly #chunks: Buffer[] = []
  #resolve: (response: OutboundResponse) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  #controller: Dispatcher.DispatchController | undefined
  #entry: PoolEntry | undefined
  #isTls = true
  #bytes = 0
  #status = 0
  #headers: IncomingHttpHeaders = {}
  #isOver = false

  constructor({ timeoutMs, maxResponseBytes = DEFAULT_RESPONSE_BYTES }: OutboundRequest) {
    this.#maxBytes = maxResponseBytes
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#timer = setTimeout(() => this.fail(timeoutError()), timeoutMs)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  use(entry: PoolEntry, isTls: boolean): void {
    this.#entry = entry
    this.#isTls = isTls
    entry.inFlight += 1
  }

  dispatch(path: string, { method, headers, body }: OutboundRequest): void {
    const own: string[] = []
    for (const [name, value] of Object.entries(headers)) {
      if (!CONNECTION_HEADERS.has(name.toLowerCase())) own.push(name, value)
    }
    this.#entry?.pool.dispatch({ path, method, headers: own, body: body ?? null }, this)
  }

  fail(error: unknown): void {
    if (!this.#end()) return
    this.#reject(error)
    this.#controller?.abort(error instanceof Error ? error : new Error('the request was aborted'))
  }

  /** Returns false when the exchange had ended before. */
  #end(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    clearTimeout(this.#timer)
    if (this.#entry !== undefined) this.#entry.inFlight -= 1
    return true
  }

  #succeed(truncated: boolean): void {
    if (!this.#end()) return
    // Nobody needs megabytes of a response that is not complete, and copying them would hold the event loop.
    const maxBytes = truncated ? Math.min(this.#maxBytes, DEFAULT_RESPONSE_BYTES) : this.#maxBytes
    const body = Buffer.concat(this.#chunks, Math.min(this.#bytes, maxBytes))
    this.#chunks.length = 0
    this.#resolve({ status: this.#status, headers: this.#headers, body, truncated })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // Ended while it waited for a connection: do not send it.
    if (this.#isOver) controller.abort(timeoutError())
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status
    this.#headers = headers
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes <= this.#maxBytes) return
    this.#succeed(true)
    controller.abort(new Error('the response exceeds the limit'))
  }

  onResponseEnd(): void {
    this.#succeed(false)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(outboundError(error, this.#isTls))
  }
}

function parse(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new OutboundError('protocol', 'The address must be an http or https URL.')
  }
  if (url.username !== '' || url.password !== '') {
    throw new OutboundError('refused_address', 'The address must not contain a username or password.')
  }
  return url
}

function plainError(host: string): OutboundError {
  return new OutboundError('refused_address', `${host} requires https, because PRIVATE_TARGETS does not include it.`)
}

function closedError(): OutboundError {
  return new OutboundError('reset', 'The service is stopping.')
}
