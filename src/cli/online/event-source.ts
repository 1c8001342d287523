import { sleep } from '../../platform/concurrency/abort.ts'
import { backoffMs } from '../../platform/concurrency/retry.ts'
import { describeError } from '../../platform/errors/describe-error.ts'
import { describeFailure, type RunningService } from './running-service.ts'

export interface EventSourceOptions {
  service: RunningService
  /** The query of GET /events/stream. */
  query: { type?: string; accountId?: string }
  /** Reconnects after this time without data. The service sends something every 15 to 30 s. */
  silenceMs?: number
  onOpen(): void
  /** Called before each reconnect. */
  onDisconnect(reason: string): void
}

const SILENCE_MS = 45_000
const BACKOFF = { baseMs: 1000, capMs: 15_000 }
/** A retry cannot succeed. */
const FINAL_STATUSES = [400, 401, 403, 404]

/**
 * Streams the events of a running service from now on, reconnecting after the last event that the caller processed.
 * Returns when the signal aborts, and throws when the service rejects the request.
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
      if (!signal.aborted) options.onDisconnect('the service ended the stream')
    } catch (error) {
      if (error instanceof Rejected) throw error
      if (!signal.aborted) options.onDisconnect(describeError(error))
    }
    failures += 1
    await sleep(backoffMs(failures, BACKOFF), signal)
  }
}

class Rejected extends Error {}

async function* connection(
  { service, query, silenceMs = SILENCE_MS, onOpen }: EventSourceOptions,
  lastId: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<ServerSentEvent> {
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(new Error('the service sent nothing')), silenceMs)
  try {
    const response = await fetch(`${service.url}/events/stream?${new URLSearchParams(query)}`, {
      headers: {
        accept: 'text/event-stream',
        authorization: `Bearer ${service.key}`,
        ...(lastId !== undefined && { 'last-event-id': lastId }),
      },
      signal: AbortSignal.any([signal, silence.signal]),
    })
    if (FINAL_STATUSES.includes(response.status)) throw new Rejected(await describeFailure(response))
    if (!response.ok || response.body === null) throw new Error(await describeFailure(response))
    onOpen()
    const parser = new SseParser()
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      timer.refresh()
      yield* parser.push(chunk)
      // The caller may have taken long to process these events.
      timer.refresh()
    }
  } finally {
    clearTimeout(timer)
    silence.abort()
  }
}

/** One server-sent event. Without data it only updates the last id. */
export interface ServerSentEvent {
  id: string | undefined
  event: string
  data: string
}

/** Parses the text of an event stream, in chunks of any size. `push` returns the events that are complete. */
export class SseParser {
  #incomplete = ''

  push(chunk: string): ServerSentEvent[] {
    // A carriage return at the end may be half a line break.
    const blocks = (this.#incomplete + chunk).replaceAll(/\r\n|\r(?!$)/g, '\n').split('\n\n')
    this.#incomplete = blocks.pop() ?? ''
    return blocks.map(parseEvent)
  }
}

function parseEvent(block: string): ServerSentEvent {
  const data: string[] = []
  const event: ServerSentEvent = { id: undefined, event: 'message', data: '' }
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^([^:]+)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'id') event.id = value
    else if (field === 'event') event.event = value
    else if (field === 'data') data.push(value)
  }
  return { ...event, data: data.join('\n') }
}
