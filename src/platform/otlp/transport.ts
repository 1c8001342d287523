import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { retryAfterMs } from '../concurrency/retry.ts'
import { errorCode } from '../errors/describe-error.ts'
import type { Clock } from '../time/clock.ts'

/** The collector's answer to a request. */
export type Delivery =
  | { outcome: 'accepted'; response: Buffer }
  /** It never takes these records. */
  | { outcome: 'refused'; reason: string }
  /** It may take them later. */
  | { outcome: 'failed'; reason: string; retryAfterMs?: number }

interface Transport {
  /** Sends one request. Never rejects, and returns within ten seconds, or soon after `signal` fires. */
  send(body: Uint8Array, signal: AbortSignal): Promise<Delivery>
  close(): void
}

export interface TransportOptions {
  clock: Clock
  url: string
  headers: Readonly<Record<string, string>>
  /** For the whole exchange. Default 10,000. */
  timeoutMs?: number
}

const TIMEOUT_MS = 10_000
/** A collector answers with a few bytes. The rest of a longer answer is not read. */
const MAX_ANSWER_BYTES = 64 * 1024
/** Statuses that the OTLP specification calls retryable. */
const RETRYABLE = new Set([429, 502, 503, 504])
const MAX_RETRY_AFTER_MS = 60_000

export function otlpTransport({ clock, url, headers, timeoutMs = TIMEOUT_MS }: TransportOptions): Transport {
  const target = new URL(url)
  const isTls = target.protocol === 'https:'
  const [request, agent] = isTls
    ? [requestHttps, new HttpsAgent({ keepAlive: true, maxSockets: 1 })]
    : [requestHttp, new HttpAgent({ keepAlive: true, maxSockets: 1 })]

  return {
    send(body, signal) {
      return new Promise((resolve) => {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
        const failed = (error: Error) => resolve({ outcome: 'failed', reason: describeFailure(error, limit.aborted) })
        const sent = request(
          target,
          {
            method: 'POST',
            agent,
            signal: limit,
            headers: { ...headers, 'content-type': 'application/x-protobuf', 'content-length': body.byteLength },
          },
          (response) => {
            response.on('error', failed)
            const chunks: Buffer[] = []
            let bytes = 0
            response.on('data', (chunk: Buffer) => {
              chunks.push(chunk)
              bytes += chunk.length
              if (bytes <= MAX_ANSWER_BYTES) return
              resolve(toDelivery(response, Buffer.alloc(0), clock))
              sent.destroy()
            })
            response.on('end', () => resolve(toDelivery(response, Buffer.concat(chunks), clock)))
            response.on('close', () => resolve({ outcome: 'failed', reason: 'the answer was cut off' }))
          },
        )
        sent.on('error', failed)
        sent.end(body)
      })
    },
    close: () => agent.destroy(),
  }
}

function toDelivery({ statusCode = 0, headers }: IncomingMessage, response: Buffer, clock: Clock): Delivery {
  if (statusCode >= 200 && statusCode < 300) return { outcome: 'accepted', response }
  const reason = `status ${statusCode}`
  if (!RETRYABLE.has(statusCode)) return { outcome: 'refused', reason }
  const askedMs = retryAfterMs(headers['retry-after'], clock.now())
  return { outcome: 'failed', reason, ...(askedMs && { retryAfterMs: Math.min(askedMs, MAX_RETRY_AFTER_MS) }) }
}

/** Never the message: it may contain the URL with its credentials. */
function describeFailure(error: Error, isOver: boolean): string {
  if (isOver) return 'no answer in time'
  return errorCode(error) || 'the connection failed'
}
