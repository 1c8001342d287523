import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

/** What an application saw of one event. */
export interface Sighting {
  eventId: string
  deliveryIds: Set<string>
  subject: string
  type: string
  /** When it came first, on this process's monotonic clock. */
  firstAtMs: number
  times: number
}

/** An application that takes webhooks and keeps books: what came, how often, under which ids, with a good signature or not. */
export interface Application {
  url: string
  trust(secret: string): void
  readonly seen: ReadonlyMap<string, Sighting>
  readonly badSignatures: number
  /** Called at each first sighting. */
  onFirst(listener: (sighting: Sighting) => void): void
  close(): Promise<void>
}

export async function startApplication(): Promise<Application> {
  const seen = new Map<string, Sighting>()
  const listeners: ((sighting: Sighting) => void)[] = []
  let verifier: Webhook | undefined
  let badSignatures = 0

  const server = createServer(async (request, response) => {
    const atMs = performance.now()
    const body = await bodyOf(request)
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    try {
      verifier?.verify(body, headers)
    } catch {
      badSignatures += 1
    }
    response.writeHead(204).end()
    const event = JSON.parse(body)
    const known = seen.get(event.id)
    const sighting = known ?? {
      eventId: event.id,
      deliveryIds: new Set<string>(),
      subject: String(event.data?.subject ?? ''),
      type: event.type,
      firstAtMs: atMs,
      times: 0,
    }
    sighting.times += 1
    sighting.deliveryIds.add(event.deliveryId)
    if (known !== undefined) return
    seen.set(event.id, sighting)
    for (const listener of listeners) listener(sighting)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    trust(secret) {
      verifier = new Webhook(secret)
    },
    seen,
    get badSignatures() {
      return badSignatures
    },
    onFirst: (listener) => void listeners.push(listener),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
