import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import type { AddressGuard } from '../../net/index.ts'
import { type Outbound, type OutboundAnswer, OutboundError, type OutboundRequest } from './contract.ts'
import { outboundError, timeoutError } from './failure.ts'
import { type KeptPool, OutboundPools, type PoolLimits } from './pools.ts'

export interface OutboundDeps {
  guard: AddressGuard
  limits?: Partial<PoolLimits>
  /** Certificates to trust instead of the system's; for tests. */
  ca?: string
}

const LIMITS: PoolLimits = { perOrigin: 32, origins: 1000, sockets: 2000 }
const MAX_RESPONSE_BYTES = 64 * 1024

/** Headers that belong to the connection; a caller's are left out. */
const OURS = new Set([
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
  const bySignal = new WeakMap<AbortSignal, Set<Exchange>>()
  let closing: Promise<void> | undefined

  /** One listener per signal, however many requests follow it: a worker's signal is shared by all its requests. */
  function follow(signal: AbortSignal | undefined, exchange: Exchange): () => void {
    if (signal === undefined) return () => {}
    let followers = bySignal.get(signal)
    if (followers === undefined) {
      const all = new Set<Exchange>()
      signal.addEventListener('abort', () => all.forEach((one) => void one.fail(signal.reason)), { once: true })
      bySignal.set(signal, all)
      followers = all
    }
    const own = followers.add(exchange)
    return () => own.delete(exchange)
  }

  /** Checks the address and sends; the exchange may have been given up while the name was resolved. */
  async function start(exchange: Exchange, url: URL, request: OutboundRequest): Promise<void> {
    const isTls = url.protocol === 'https:'
    try {
      const target = { host: url.hostname, port: Number(url.port) || (isTls ? 443 : 80) }
      const checked = await deps.guard.check(target)
      if (exchange.isOver) return
      if (!isTls && !deps.guard.allowsPlain(checked)) throw plainError(checked.host)
      exchange.through(pools.of(isTls ? 'https:' : 'http:', checked, request.connectionsOf), isTls)
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
      const unfollow = follow(request.signal, exchange)
      void start(exchange, url, request)
      try {
        return await exchange.answer
      } finally {
        exchanges.delete(exchange)
        unfollow()
      }
    },
    close() {
      closing ??= pools.destroy(closedError())
      for (const exchange of exchanges) exchange.fail(closedError())
      return closing
    },
  }
}

/** One request and its answer, as undici's handler: no stream and no signal per request, which cost more than the rest. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<OutboundAnswer>
  readonly #maxBytes: number
  readonly #timer: NodeJS.Timeout
  readonly #chunks: Buffer[] = []
  #resolve: (answer: OutboundAnswer) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  #controller: Dispatcher.DispatchController | undefined
  #kept: KeptPool | undefined
  #isTls = true
  #bytes = 0
  #status = 0
  #headers: IncomingHttpHeaders = {}
  #isOver = false

  constructor({ timeoutMs, maxResponseBytes = MAX_RESPONSE_BYTES }: OutboundRequest) {
    this.#maxBytes = Math.min(maxResponseBytes, MAX_RESPONSE_BYTES)
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#timer = setTimeout(() => this.fail(timeoutError()), timeoutMs)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  through(kept: KeptPool, isTls: boolean): void {
    this.#kept = kept
    this.#isTls = isTls
    kept.inFlight += 1
  }

  dispatch(path: string, { method, headers, body }: OutboundRequest): void {
    const own = Object.fromEntries(Object.entries(headers).filter(([name]) => !OURS.has(name.toLowerCase())))
    this.#kept?.pool.dispatch({ path, method, headers: own, body: body ?? null }, this)
  }

  fail(error: unknown): void {
    if (!this.#end()) return
    this.#reject(error)
    this.#controller?.abort(error instanceof Error ? error : new Error('given up'))
  }

  /** False when it was over already. */
  #end(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    clearTimeout(this.#timer)
    if (this.#kept !== undefined) this.#kept.inFlight -= 1
    return true
  }

  #succeed(truncated: boolean): void {
    if (!this.#end()) return
    const body = Buffer.concat(this.#chunks, Math.min(this.#bytes, this.#maxBytes))
    this.#resolve({ status: this.#status, headers: this.#headers, body, truncated })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // Given up while it waited for a connection: nothing was sent, and nothing will be.
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
    controller.abort(new Error('the answer is longer than what is read of it'))
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
    throw new OutboundError('protocol', 'This is not an http or https address.')
  }
  if (url.username !== '' || url.password !== '') {
    throw new OutboundError('refused_address', 'The address may not hold a user name or password.')
  }
  return url
}

function plainError(host: string): OutboundError {
  return new OutboundError('refused_address', `${host} must be reached by https: PRIVATE_TARGETS does not cover it.`)
}

function closedError(): OutboundError {
  return new OutboundError('reset', 'The service is stopping.')
}
