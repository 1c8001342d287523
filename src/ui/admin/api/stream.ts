import { ApiError, apiUrl, ownHeaders, type Query } from './client.ts'

interface StreamEvent {
  id: string
  type: string
  data: string
}

export interface StreamOptions {
  path: string
  query?: Query
  onEvent(event: StreamEvent): void
  onState(isOpen: boolean): void
}

const RETRY_MS = [1000, 2000, 5000, 10_000, 30_000]
/** The service sends a comment every 15 to 30 seconds. */
const SILENCE_MS = 45_000

/**
 * Reads server-sent events until it is closed, and reconnects with the last id. `EventSource` cannot receive events of types that are
 * not known before. A hidden page closes the stream, because browsers allow six connections to a server.
 */
export function openStream({ path, query, onEvent, onState }: StreamOptions): () => void {
  let lastId: string | undefined
  let failures = 0
  let timer: number | undefined
  let connection: AbortController | undefined
  let isClosed = false

  async function connect(): Promise<void> {
    window.clearTimeout(timer)
    if (isClosed || document.hidden || connection !== undefined) return
    const own = new AbortController()
    connection = own
    try {
      const response = await fetch(apiUrl(path, query), {
        headers: {
          accept: 'text/event-stream',
          ...ownHeaders(true),
          ...(lastId !== undefined && { 'last-event-id': lastId }),
        },
        signal: own.signal,
      })
      if (!response.ok || response.body === null) throw new ApiError(response.status)
      onState(true)
      await read(response.body, own)
    } catch (error) {
      if (error instanceof ApiError && [401, 403, 404].includes(error.status)) isClosed = true
    }
    if (connection === own) connection = undefined
    onState(false)
    if (!own.signal.aborted || !isClosed) schedule()
  }

  async function read(body: ReadableStream<Uint8Array>, own: AbortController): Promise<void> {
    const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
    let text = ''
    for (;;) {
      const silence = window.setTimeout(() => own.abort(), SILENCE_MS)
      const { done, value } = await reader.read().finally(() => window.clearTimeout(silence))
      if (done) return
      failures = 0
      text += value
      const frames = text.split('\n\n')
      text = frames.pop() ?? ''
      for (const frame of frames) handle(frame)
    }
  }

  function handle(frame: string): void {
    const event: StreamEvent = { id: '', type: 'message', data: '' }
    for (const line of frame.split('\n')) {
      if (line.startsWith('id: ')) event.id = line.slice(4)
      else if (line.startsWith('event: ')) event.type = line.slice(7)
      else if (line.startsWith('data: ')) event.data += line.slice(6)
    }
    if (event.id !== '') lastId = event.id
    if (event.data !== '') onEvent(event)
  }

  function schedule(): void {
    window.clearTimeout(timer)
    if (isClosed || document.hidden) return
    timer = window.setTimeout(() => void connect(), RETRY_MS[Math.min(failures, RETRY_MS.length - 1)])
    failures += 1
  }

  const onVisibility = () => {
    if (document.hidden) connection?.abort()
    else void connect()
  }
  document.addEventListener('visibilitychange', onVisibility)
  void connect()
  return () => {
    isClosed = true
    window.clearTimeout(timer)
    document.removeEventListener('visibilitychange', onVisibility)
    connection?.abort()
  }
}
