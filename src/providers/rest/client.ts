import { Pool } from 'undici'
import { sleep } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { backoffMs } from '../../lib/retry.ts'
import { type MailAccess, ProviderError } from '../contract/index.ts'
import type { RestClient, RestMailbox, RestRequest, RestResponse } from './contract.ts'
import { type Arriving, exchange, readBody } from './exchange.ts'
import { isBroken, RETRY_IN_PLACE_MS } from './failure.ts'
import { Gate, type Pace } from './gate.ts'
import { requestUrl } from './url.ts'

export interface RestClientOptions {
  /** From the settings; may have a path. */
  root: string
  pace: Pace
  /** What an answer that says no means; `statusFailure` where the provider's words add nothing. */
  failure(answer: RestResponse, doing: string, nowMs: number): ProviderError
  clock: Clock
  limits?: Partial<RestLimits>
}

interface RestLimits {
  timeoutMs: number
  /** For its turn. */
  waitMs: number
  urgentTimeoutMs: number
  /** Connections to the provider, for all mailboxes. */
  connections: number
}

const LIMITS: RestLimits = { timeoutMs: 30_000, waitMs: 120_000, urgentTimeoutMs: 10_000, connections: 128 }
const MAX_BYTES = 8 * 1024 * 1024
const ERROR_BYTES = 64 * 1024
/** Short pauses that are waited for, per request. */
const PAUSES = 2
const BACKOFF = { baseMs: 1000, capMs: RETRY_IN_PLACE_MS }
/** The gate of a mailbox stays shut no longer, whatever was asked for: what is thrown says how long it was. */
const MAX_CLOSED_MS = 60_000
const CONNECT_MS = 10_000

export function restClient({ root, pace, failure, clock, limits: given }: RestClientOptions): RestClient {
  const limits = { ...LIMITS, ...given }
  const mailboxes = new Map<string, { gate: Gate; closing: AbortController }>()
  let pool: Pool | undefined

  function connections(): Pool {
    pool ??= new Pool(new URL(root).origin, {
      connections: limits.connections,
      connect: { timeout: CONNECT_MS },
    })
    return pool
  }

  function kept(accountId: string) {
    const known = mailboxes.get(accountId) ?? { gate: new Gate(pace, clock), closing: new AbortController() }
    mailboxes.set(accountId, known)
    return known
  }

  function mailbox(access: MailAccess, { urgent = false } = {}): RestMailbox {
    const timeoutMs = urgent ? limits.urgentTimeoutMs : limits.timeoutMs

    async function answered(request: RestRequest): Promise<Arriving> {
      const url = requestUrl(root, request)
      let refused: string | undefined
      let hasBroken = false
      for (let pauses = 0; ; ) {
        const token = await bearer(access, refused)
        const attempt = await once(request, url, token).catch((error: unknown) => {
          // A kept connection may end just when it is used: what changes nothing is sent once more.
          if (!changesNothing(request) || hasBroken || !isBroken(error)) throw error
          hasBroken = true
        })
        if (attempt === undefined) continue
        if (!(attempt instanceof Refusal)) return attempt
        const error = failure(attempt.answer, request.doing, clock.now())
        if (attempt.answer.status === 401 && refused === undefined) {
          refused = token
          continue
        }
        if (error.kind === 'rate_limited') {
          kept(access.accountId).gate.close(Math.min(error.retryAfterMs ?? 0, MAX_CLOSED_MS))
        }
        pauses += 1
        const pauseMs = pauseBefore(request, error, pauses)
        if (pauseMs > RETRY_IN_PLACE_MS || pauses > (urgent ? 1 : PAUSES)) throw error
        await sleep(pauseMs, request.signal)
      }
    }

    async function once(request: RestRequest, url: URL, token: string) {
      const { gate, closing } = kept(access.accountId)
      const over = follow(request.signal, closing.signal)
      const { method, doing, cost = 1 } = request
      const waitMs = urgent ? limits.urgentTimeoutMs : limits.waitMs
      const leaveGate = await gate
        .enter({ cost, urgent, doing, waitMs, signal: over.signal })
        .catch((error: unknown) => {
          over.done()
          throw error
        })
      const leave = () => {
        leaveGate()
        over.done()
      }
      try {
        const answer = await exchange(connections(), {
          ...{ method, doing, timeoutMs, signal: over.signal },
          path: url.pathname + url.search,
          headers: headersOf(request, token),
          body: bodyOf(request),
        })
        answer.body.once('close', leave)
        if (answer.status >= 200 && answer.status < 300) return answer
        const said = await readBody(answer.body, { maxBytes: ERROR_BYTES, timeoutMs, doing }).catch(() => undefined)
        return new Refusal({ status: answer.status, headers: answer.headers, body: jsonOf(said) })
      } catch (error) {
        leave()
        throw error
      }
    }

    return {
      async json(request, read) {
        const { body } = await answered(request)
        const { doing, maxBytes = MAX_BYTES } = request
        const bytes = await readBody(body, { maxBytes, timeoutMs, doing })
        try {
          return read(bytes.length === 0 ? undefined : JSON.parse(bytes.toString('utf8')))
        } catch {
          // Its words are left out: a parser quotes what it could not read.
          throw new ProviderError('unavailable', `${doing}: the answer could not be read`)
        }
      },
      async open(request) {
        const { headers, body } = await answered(request)
        return { headers, body }
      },
    }
  }

  return {
    mailbox,
    async close(accountId) {
      for (const [id, { closing }] of [...mailboxes]) {
        if (accountId !== undefined && id !== accountId) continue
        mailboxes.delete(id)
        closing.abort(new ProviderError('unavailable', 'the mailbox was closed'))
      }
      if (accountId !== undefined) return
      const ended = pool
      pool = undefined
      await ended?.destroy()
    },
  }
}

class Refusal {
  readonly answer: RestResponse
  constructor(answer: RestResponse) {
    this.answer = answer
  }
}

async function bearer(access: MailAccess, refused: string | undefined): Promise<string> {
  if (access.accessToken === undefined) throw new ProviderError('auth_expired', 'the account has no access token')
  return access.accessToken(refused)
}

/** What was refused for a limit was not done; after another failure only what changes nothing is asked again, when told when. */
function pauseBefore(request: RestRequest, { kind, retryAfterMs }: ProviderError, attempt: number): number {
  if (kind === 'rate_limited') return retryAfterMs ?? backoffMs(attempt, BACKOFF)
  return changesNothing(request) ? (retryAfterMs ?? Infinity) : Infinity
}

function changesNothing({ method, isRead }: RestRequest): boolean {
  return method === 'GET' || isRead === true
}

function headersOf({ headers, body }: RestRequest, token: string): Record<string, string> {
  return {
    accept: 'application/json',
    'accept-encoding': 'gzip',
    // Google packs answers only for clients that say gzip here as well.
    'user-agent': 'Posthorn (gzip)',
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...headers,
    authorization: `Bearer ${token}`,
  }
}

function bodyOf({ body }: RestRequest): string | null {
  if (body === undefined) return null
  return typeof body === 'string' ? body : JSON.stringify(body)
}

function jsonOf(bytes: Buffer | undefined): unknown {
  try {
    return bytes === undefined ? undefined : JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

/** One signal that aborts with either; `done` takes the listeners away, of which a long-lived signal would gather thousands. */
function follow(one: AbortSignal | undefined, other: AbortSignal): { signal: AbortSignal; done(): void } {
  const both = new AbortController()
  const signals = one === undefined ? [other] : [one, other]
  const abort = () => both.abort(signals.find((signal) => signal.aborted)?.reason)
  for (const signal of signals) {
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  }
  return {
    signal: both.signal,
    done: () => signals.forEach((signal) => void signal.removeEventListener('abort', abort)),
  }
}
