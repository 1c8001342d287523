import { sleep } from '../lib/abort.ts'
import { backoffMs } from '../lib/retry.ts'
import { failureOf, type RunningService, reasonOf } from './running-service.ts'
import { type ServerSentEvent, SseParser } from './sse.ts'

export interface EventSourceOptions {
  service: RunningService
  /** As GET /events/stream takes it. */
  type: string | undefined
  /** The service says something every 10 s; after this long without a word the connection is given up. */
  silenceMs?: number
  onOpen(): void
  /** The connection is lost or could not be made; it is tried again. */
  onTrouble(reason: string): void
}

const SILENCE_MS = 35_000
const BACKOFF = { baseMs: 1000, capMs: 15_000 }
/** These do not go away by themselves. */
const FINAL = [400, 401, 403, 404]

/**
 * The events of a running service from now on, each once it is there, without end: after a break it goes on behind the last
 * event that the caller came back from. Returns when the signal fires; throws when the service refuses.
 */
export async function* eventSource(options: EventSourceOptions, signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
  let lastId: string | undefined
  for (let failures = 0; !signal.aborted; ) {
    try {
      for await (const event of connection(options, lastId, signal)) {
        failures = 0
        if (event.data !== '') yield event
        lastId = event.id ?? lastId
      }
      if (!signal.aborted) options.onTrouble('the service ended the stream')
    } catch (error) {
      if (error instanceof Refused) throw error
      if (!signal.aborted) options.onTrouble(reasonOf(error))
    }
    failures += 1
    await sleep(backoffMs(failures, BACKOFF), signal)
  }
}

class Refused extends Error {}

async function* connection(
  { service, type, silenceMs = SILENCE_MS, onOpen }: EventSourceOptions,
  lastId: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<ServerSentEvent> {
  const silence = new AbortController()
  const watch = setTimeout(() => silence.abort(new Error('the service has fallen silent')), silenceMs)
  try {
    const query = type === undefined ? '' : `?${new URLSearchParams({ type })}`
    const response = await fetch(`${service.url}/events/stream${query}`, {
      headers: {
        accept: 'text/event-stream',
        authorization: `Bearer ${service.key}`,
        ...(lastId !== undefined && { 'last-event-id': lastId }),
      },
      signal: AbortSignal.any([signal, silence.signal]),
    })
    if (FINAL.includes(response.status)) throw new Refused(await failureOf(response))
    if (!response.ok || response.body === null) throw new Error(await failureOf(response))
    onOpen()
    const parser = new SseParser()
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      watch.refresh()
      yield* parser.push(piece)
      // What was done with these events may have taken its time.
      watch.refresh()
    }
  } finally {
    clearTimeout(watch)
    silence.abort()
  }
}
