import { anyAborted, sleep } from '../../../platform/concurrency/abort.ts'
import { type Backoff, backoffMs } from '../../../platform/concurrency/retry.ts'
import { Pool } from '../../../platform/net/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { type MailAccess, ProviderError } from '../../contract/index.ts'
import type { FailedRequest, RestClient, RestMailbox, RestRequest, RestResponse } from './contract.ts'
import { isDisconnect, MAX_WAIT_MS, timeoutError } from './errors.ts'
import { exchange, type HttpResponse, orUnreadable, readJson, readText } from './exchange.ts'
import { parseJson } from './json.ts'
import { MINUTE_MS, ProjectBudget } from './project-budget.ts'
import type { Priority, QuotaRefusal } from './quota.ts'
import { type RateLimit, RateLimiter } from './rate-limiter.ts'
import { mayRepeat, requestBody, requestHeaders, requestUrl } from './request.ts'

export interface RestClientOptions {
  /** From the settings; may have a path. */
  root: string
  rateLimit: RateLimit
  /** A limit of the minute that mailboxes share. `nameOf` returns the same name for those that share it. */
  projects?: { unitsPerMinute: number; nameOf(access: MailAccess): string }
  /** Maps an error response; `statusError` where the provider's error codes add nothing. */
  toError(response: RestResponse, doing: string, nowMs: number, request: FailedRequest): ProviderError
  /** Which limit a response says was exceeded. Called for those that `toError` maps to `rate_limited`. */
  toRefusal?(response: RestResponse): QuotaRefusal
  /** Called with the units of each request that is sent. */
  onUnits?(units: number): void
  clock: Clock
  limits?: Partial<RestLimits>
}

interface RestLimits {
  timeoutMs: number
  /** How long a request waits for its turn. */
  waitMs: number
  urgentTimeoutMs: number
  /** For the body of a stream. */
  streamMs: number
  /** Connections to the provider, shared by all mailboxes. */
  connections: number
  /** Before a request, or a part of a batch, is sent again for which the provider names no pause. */
  retry: Backoff
}

const LIMITS: RestLimits = {
  timeoutMs: 30_000,
  waitMs: 120_000,
  urgentTimeoutMs: 10_000,
  streamMs: 600_000,
  connections: 128,
  retry: { baseMs: 1000, capMs: MAX_WAIT_MS },
}
const MAX_BYTES = 8 * 1024 * 1024
const MAX_ERROR_BYTES = 64 * 1024
/** Retries of one request after short pauses. */
const MAX_PAUSES = 2
/** The longest pause of a mailbox whose daily limit is used up: a raised limit is noticed. The error carries the requested pause. */
const MAX_DAILY_PAUSE_MS = 60_000
const CONNECT_MS = 10_000

export function restClient(options: RestClientOptions): RestClient {
  const { root, rateLimit, projects, toError, toRefusal = unknownLimit, onUnits, clock } = options
  const limits = { ...LIMITS, ...options.limits }
  const host = new URL(root).hostname
  const mailboxes = new Map<string, { limiter: RateLimiter; closing: AbortController }>()
  const budgets = new Map<string, ProjectBudget>()
  let pool: Pool | undefined

  function connections(): Pool {
    pool ??= new Pool(new URL(root).origin, {
      connections: limits.connections,
      connect: { timeout: CONNECT_MS },
    })
    return pool
  }

  function projectBudget(access: MailAccess): ProjectBudget | undefined {
    if (projects === undefined) return undefined
    const name = projects.nameOf(access)
    const budget = budgets.get(name) ?? new ProjectBudget({ units: projects.unitsPerMinute, perMs: MINUTE_MS }, clock)
    budgets.set(name, budget)
    return budget
  }

  function mailboxState(access: MailAccess) {
    const state = mailboxes.get(access.accountId) ?? {
      limiter: new RateLimiter(rateLimit, clock, projectBudget(access)),
      closing: new AbortController(),
    }
    mailboxes.set(access.accountId, state)
    return state
  }

  function mailbox(access: MailAccess, { urgent = false, background = false } = {}): RestMailbox {
    const timeoutMs = urgent ? limits.urgentTimeoutMs : limits.timeoutMs
    const priority: Priority = urgent ? 'urgent' : background ? 'background' : 'normal'

    /** Returns a successful response; retries as the contract allows. */
    async function send(request: RestRequest, isStream = false): Promise<HttpResponse> {
      const url = requestUrl(root, request)
      let refusedToken: string | undefined
      let hasReconnected = false
      for (let pauses = 0; ; ) {
        const token = request.withoutToken ? undefined : await bearer(access, refusedToken)
        const attempt = await sendOnce(request, { url, token, isStream }).catch((error: unknown) => {
          // The server may close an idle connection just when it is reused. Not every request may be repeated.
          if (!mayRepeat(request) || hasReconnected || !isDisconnect(error)) throw error
          hasReconnected = true
        })
        if (attempt === undefined) continue
        if (!(attempt instanceof ErrorResponse)) return attempt
        const { limiter } = mailboxState(access)
        const { method, path, doing } = request
        const { settings, isApplication = false } = access
        const error = toError(attempt.response, doing, clock.now(), { method, path, settings, isApplication })
        if (attempt.response.status === 401 && token !== undefined && refusedToken === undefined) {
          refusedToken = token
          continue
        }
        const refusal = error.kind === 'rate_limited' ? toRefusal(attempt.response) : undefined
        if (refusal !== undefined) limiter.refused(request.cost ?? 1, priority, refusal)
        if (error.retryAfterMs !== undefined && (refusal !== undefined || error.kind === 'unavailable')) {
          const mostMs = refusal?.window === 'day' ? MAX_DAILY_PAUSE_MS : error.retryAfterMs
          limiter.pause(Math.min(error.retryAfterMs, mostMs))
        }
        pauses += 1
        const pauseMs = pauseBeforeRetry(request, error, () => backoffMs(pauses, limits.retry))
        if (pauseMs > MAX_WAIT_MS || pauses > (urgent ? 1 : MAX_PAUSES)) throw error
        await sleep(pauseMs, request.signal)
      }
    }

    async function sendOnce(
      request: RestRequest,
      { url, token, isStream }: { url: URL; token: string | undefined; isStream: boolean },
    ) {
      const { limiter, closing } = mailboxState(access)
      const either = anyAborted(request.signal === undefined ? [closing.signal] : [request.signal, closing.signal])
      const { method, doing, cost = 1, slots = 1 } = request
      const waitMs = urgent ? limits.urgentTimeoutMs : limits.waitMs
      const release = await limiter
        .acquire({ cost, slots, isStream, priority, doing, waitMs, signal: either.signal })
        .catch((error: unknown) => {
          either.done()
          throw error
        })
      const end = () => {
        release()
        either.done()
      }
      try {
        await request.beforeSend?.()
        onUnits?.(cost)
        const response = await exchange(connections(), {
          method,
          doing,
          host,
          timeoutMs: request.timeoutMs ?? timeoutMs,
          signal: either.signal,
          path: url.pathname + url.search,
          headers: requestHeaders(request, token),
          body: requestBody(request),
        })
        response.body.once('close', end)
        const { status, headers, body } = response
        if (status >= 200 && status < 300) {
          // A batch succeeds although the provider may refuse its parts.
          if (request.hasParts !== true) limiter.accepted()
          return response
        }
        const text = await readText(body, { maxBytes: MAX_ERROR_BYTES, timeoutMs, doing, host }).catch(() => undefined)
        return new ErrorResponse({ status, headers, body: parseJson(text) })
      } catch (error) {
        end()
        throw error
      }
    }

    return {
      isApplication: access.isApplication === true,
      retry: limits.retry,
      async json(request, read) {
        const { body } = await send(request)
        const { doing, maxBytes = MAX_BYTES, maxString } = request
        const value = await readJson(body, { maxBytes, timeoutMs, doing, host, maxString })
        return orUnreadable(doing, () => read(value))
      },
      async open(request) {
        const { headers, body } = await send(request, true)
        const { doing, deadlineMs = limits.streamMs } = request
        // A provider that sends a byte now and then makes progress, and would hold one of the mailbox's slots forever.
        const timer = setTimeout(() => body.destroy(timeoutError({ doing, host })), deadlineMs)
        body.once('close', () => clearTimeout(timer))
        return { headers, body }
      },
      batchSize: (cost, most) => mailboxState(access).limiter.batchSize(cost, most),
      partsDone({ acceptedUnits, refusedUnits, refusal }) {
        const { limiter } = mailboxState(access)
        if (acceptedUnits > 0) limiter.accepted()
        if (refusedUnits > 0) limiter.refused(refusedUnits, priority, refusal)
      },
    }
  }

  return {
    mailbox,
    endPause: (accountId) => mailboxes.get(accountId)?.limiter.endPause(),
    async close(accountId) {
      for (const [id, { closing }] of [...mailboxes]) {
        if (accountId !== undefined && id !== accountId) continue
        mailboxes.delete(id)
        closing.abort(new ProviderError('unavailable', 'the mailbox was closed'))
      }
      if (accountId !== undefined) return
      const closed = pool
      pool = undefined
      await closed?.destroy()
    },
  }
}

class ErrorResponse {
  readonly response: RestResponse
  constructor(response: RestResponse) {
    this.response = response
  }
}

function unknownLimit(): QuotaRefusal {
  return {}
}

async function bearer(access: MailAccess, refused: string | undefined): Promise<string> {
  if (access.accessToken === undefined) throw new ProviderError('auth_expired', 'the account has no access token')
  return access.accessToken(refused)
}

/** A rate-limited request was not executed. After other errors only a repeatable request is sent again, and only if the provider said when. */
function pauseBeforeRetry(request: RestRequest, error: ProviderError, backoff: () => number): number {
  const { kind, retryAfterMs } = error
  if (kind === 'rate_limited') return retryAfterMs ?? backoff()
  return mayRepeat(request) ? (retryAfterMs ?? Infinity) : Infinity
}
