import { ApiError, ConnectionError, PosthornError } from '../errors.ts'
import type { ApiRequest, Client, RequestOptions } from './client.ts'
import { pause } from './deadline.ts'
import { retryDelayMs } from './retry.ts'
import { SseParser } from './sse-parser.ts'

export interface StreamOptions extends RequestOptions {
  /** Continues after this event, such as the `position` of the last one that you processed. */
  lastEventId?: string | undefined
  /** Attempts in a row to connect again. Default: no limit. */
  maxRetries?: number | undefined
  /** Called when the stream is open, the first time and after each interruption. */
  onOpen?: (() => void) | undefined
  /** Called when the stream was interrupted, before it connects again. */
  onInterruption?: ((error: PosthornError) => void) | undefined
}

/** The service sends something every 30 seconds at least. */
const SILENCE_MS = 45_000
const LONGEST_DELAY_MS = 15_000

/**
 * The events of a stream, each as the value of its JSON. After an interruption it connects again and continues after the last
 * event that the caller has taken, until the signal aborts or the caller ends the loop. Throws when the service refuses the request.
 */
export async function* readStream<Item>(
  client: Client,
  request: ApiRequest,
  options: StreamOptions = {},
): AsyncGenerator<Item, void, undefined> {
  const { signal, maxRetries = Number.POSITIVE_INFINITY, onOpen, onInterruption } = options
  let { lastEventId } = options
  for (let failures = 0; ; ) {
    try {
      const headers = { accept: 'text/event-stream', 'last-event-id': lastEventId }
      const idleMs = options.timeoutMs ?? SILENCE_MS
      const response = await client.raw({ ...request, headers }, { signal, timeoutMs: idleMs, idleMs, maxRetries: 0 })
      onOpen?.()
      for await (const event of parsedEvents(response)) {
        failures = 0
        if (event.data !== '') yield JSON.parse(event.data)
        lastEventId = event.id ?? lastEventId
      }
      throw new ConnectionError('The service ended the stream.')
    } catch (error) {
      signal?.throwIfAborted()
      failures += 1
      if (!isInterruption(error) || failures > maxRetries) throw error
      onInterruption?.(error)
      await pause(retryDelayMs(failures, error, LONGEST_DELAY_MS) ?? LONGEST_DELAY_MS, signal)
    }
  }
}

async function* parsedEvents({ body }: Response) {
  if (body === null) return
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const parser = new SseParser()
  try {
    for (;;) {
      const { done, value } = await readPart(reader)
      if (done) return
      yield* parser.push(decoder.decode(value, { stream: true }))
    }
  } finally {
    // The connection may be broken already.
    await reader.cancel().catch(() => {})
  }
}

async function readPart(reader: ReadableStreamDefaultReader<Uint8Array>) {
  try {
    return await reader.read()
  } catch (error) {
    if (error instanceof PosthornError) throw error
    throw new ConnectionError('The connection broke.', { cause: error })
  }
}

function isInterruption(error: unknown): error is PosthornError {
  if (error instanceof ApiError) return error.status === 429 || error.status >= 500
  return error instanceof ConnectionError
}
