import secureJson from 'secure-json-parse'
import { isTimeout } from '../../platform/concurrency/abort.ts'
import { webhookHeaders } from '../../platform/crypto/signature.ts'
import { exceededJsonLimit } from '../../platform/formats/json-limits.ts'
import type { Log } from '../../platform/log/index.ts'
import { lowerCased, type Outbound, OutboundError, type OutboundResponse } from '../../platform/outbound/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { CallbackName, Experience } from '../experiences/experience.ts'

export interface CallbackDeps {
  outbound: Outbound
  clock: Clock
  log: Log
}

export interface CallbackRequest {
  experience: Experience
  name: CallbackName
  /** The `webhook-id`: equal for repetitions of one request. */
  id: string
  /** The member `request` of the payload. */
  request: unknown
  requestId: string | undefined
  signal: AbortSignal
}

/** The response of the endpoint. `body` is undefined when it is empty. */
interface CallbackResponse {
  kind: 'response'
  status: number
  body: unknown
}

/** Why there is no response to use. */
export interface CallbackFailure {
  kind: 'failed'
  code: 'callback_failed' | 'callback_timeout'
  /** A sentence for the owner of the endpoint. It quotes nothing that the endpoint sent. */
  reason: string
}

const TIMEOUT_MS = 10_000
const MAX_RESPONSE_BYTES = 1024 * 1024
/** 5,000 slots with participants and metadata. */
const JSON_LIMITS = { depth: 32, values: 100_000 }

/**
 * Sends one signed request to an endpoint of the experience. Rejects only when the signal aborts for another reason than a time limit. Undefined without an
 * endpoint.
 */
export async function sendCallback(
  { experience, name, id, request, requestId, signal }: CallbackRequest,
  { outbound, clock }: CallbackDeps,
): Promise<CallbackResponse | CallbackFailure | undefined> {
  const endpoint = experience.definition.endpoints[name]
  if (endpoint === null) return undefined
  const { headers = {}, secret } = experience.secrets.endpoints[name] ?? {}
  const body = JSON.stringify({ experience: buildPayload(experience), request })
  const timestamp = Math.floor(clock.now() / 1000)
  const secrets = [secret ?? experience.secrets.callbackSecret]
  try {
    const response = await outbound.send({
      method: endpoint.method ?? 'POST',
      url: endpoint.url,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'user-agent': 'Posthorn-Scheduler/1',
        ...lowerCased(headers),
        ...(requestId !== undefined && { 'x-request-id': requestId }),
        ...webhookHeaders({ id, timestamp, body, secrets }),
      },
      body,
      // A hanging endpoint must not use up the connections of other experiences at its host.
      connectionOwner: experience.id,
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      signal,
    })
    return parseResponse(response)
  } catch (error) {
    if (isTimeout(error))
      return { kind: 'failed', code: 'callback_timeout', reason: 'No complete response arrived in time.' }
    if (signal.aborted || !(error instanceof OutboundError)) throw error
    const code = error.kind === 'timeout' ? 'callback_timeout' : 'callback_failed'
    const reason = error.kind === 'timeout' ? 'No complete response arrived within 10 seconds.' : error.message
    return { kind: 'failed', code, reason }
  }
}

/** Writes the one log line of a failed callback. */
export function logFailure(
  { log }: CallbackDeps,
  { experience, name, requestId }: Pick<CallbackRequest, 'experience' | 'name' | 'requestId'>,
  reason: string,
): void {
  log.warn(`The ${name} callback of the experience "${experience.slug}" failed: ${reason}`, {
    operation: `scheduler.${name}-callback`,
    requestId,
    metadata: { experience: experience.slug, callback: name },
  })
}

/** Builds the description of the experience that every callback contains. */
function buildPayload({ id, slug, name, description, timezone, definition }: Experience) {
  const { defaultAccountIds, metadata, availability } = definition
  return { id, slug, name, description, timezone, defaultAccountIds, availability, metadata }
}

function parseResponse({ status, body, truncated }: OutboundResponse): CallbackResponse | CallbackFailure {
  const fail = (reason: string): CallbackFailure => ({ kind: 'failed', code: 'callback_failed', reason })
  if (status >= 300 && status < 400) {
    return fail(`The endpoint returned ${status}. Redirects are not followed: set the final URL.`)
  }
  // The body of an error page says nothing that could be used, except for a refused booking.
  if (status >= 300 && status !== 409) return fail(`The endpoint returned ${status}.`)
  if (truncated) return fail('The response is larger than 1 MB.')
  const text = body.toString('utf8')
  if (text.trim() === '') return { kind: 'response', status, body: undefined }
  const exceeded = exceededJsonLimit(text, JSON_LIMITS)
  if (exceeded === 'depth') return fail(`The response is nested more than ${JSON_LIMITS.depth} levels deep.`)
  if (exceeded === 'values') return fail(`The response has more than ${JSON_LIMITS.values} values.`)
  try {
    return { kind: 'response', status, body: secureJson(text, { protoAction: 'remove', constructorAction: 'remove' }) }
  } catch {
    return status === 409 ? { kind: 'response', status, body: undefined } : fail('The response is not valid JSON.')
  }
}
