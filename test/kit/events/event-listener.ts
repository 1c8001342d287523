import { closing } from '../closing.ts'

/** A client of `GET /events/stream`. */
export interface EventListener {
  response: Response
  /** The received text. */
  text: string
  hasEnded: boolean
  /** Reads on after `isPaused`. */
  resume(): void
  leave(): void
}

export interface StreamedEvent {
  id: number
  event: string
  data: ReturnType<typeof JSON.parse>
}

/** Opens a stream and reads it in the background, after `resume` when it is paused. It ends with the test. */
export async function listen(
  url: string,
  headers: Record<string, string>,
  query = '',
  isPaused = false,
): Promise<EventListener> {
  const abort = new AbortController()
  closing({ close: async () => abort.abort() })
  const response = await fetch(`${url}/events/stream${query}`, { headers, signal: abort.signal })
  let isReading = false
  const client: EventListener = {
    response,
    text: '',
    hasEnded: false,
    leave: () => abort.abort(),
    resume() {
      if (isReading) return
      isReading = true
      read()
        .catch(() => {})
        .finally(() => {
          client.hasEnded = true
        })
    },
  }
  async function read(): Promise<void> {
    const decoder = new TextDecoder()
    for await (const part of response.body ?? []) client.text += decoder.decode(part, { stream: true })
  }
  if (response.ok && !isPaused) client.resume()
  return client
}

/** The events that a client has received. */
export function streamedEvents({ text }: Pick<EventListener, 'text'>): StreamedEvent[] {
  return [...text.matchAll(/^id: (\d+)\nevent: (.*)\ndata: (.*)$/gm)].map(([, id, event = '', data]) => ({
    id: Number(id),
    event,
    data: JSON.parse(data ?? ''),
  }))
}
