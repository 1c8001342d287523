import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How an endpoint behaves: answers 204, answers 500, never answers, or cuts the connection. */
export type Manner = 'well' | 'fail' | 'hang' | 'reset'

/** What arrived first for one marker at one endpoint. */
export interface Arrival {
  eventId: string
  deliveryId: string
  /** Since the event's timestamp. */
  latencyMs: number
}

/** Endpoints at one host, told apart by their paths, that keep books of `account.updated` by its customUserId, the marker. */
export interface ManyHooks {
  url(index: number): string
  /** Throws unless every endpoint that behaves well has every marker. */
  expectAll(markers: readonly string[]): void
  /** Over all that behave well. */
  latenciesMs(markers: readonly string[]): number[]
  /** By marker, for each endpoint that behaves well. */
  arrivals(): ReadonlyMap<string, Arrival>[]
  /** Requests to endpoints of any other manner. */
  requestsBut(manner: Manner): number
  /** What arrived again, under the same ids. */
  readonly repeats: number
  /** What arrived again under another id: there must be none. */
  readonly strays: readonly string[]
  close(): Promise<void>
}

export async function startManyHooks(manners: readonly Manner[]): Promise<ManyHooks> {
  const books = manners.map(() => new Map<string, Arrival>())
  const requests = manners.map(() => 0)
  const strays: string[] = []
  let repeats = 0

  const server = createServer((request, response) => {
    const atMs = Date.now()
    const index = Number(request.url?.slice('/hook/'.length))
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    // The sender gives up on those that hang, in the middle of nothing.
    request.on('error', () => {})
    request.on('end', () => {
      requests[index] = (requests[index] ?? 0) + 1
      const manner = manners[index] ?? 'fail'
      if (manner === 'well') note(index, Buffer.concat(chunks).toString('utf8'), atMs)
      behave(manner, response)
    })
  })

  function note(index: number, body: string, atMs: number): void {
    const event = JSON.parse(body)
    const marker = String(event.data.customUserId)
    const known = books[index]?.get(marker)
    if (known === undefined) {
      const latencyMs = atMs - Date.parse(event.timestamp)
      books[index]?.set(marker, { eventId: event.id, deliveryId: event.deliveryId, latencyMs })
    } else if (known.eventId === event.id && known.deliveryId === event.deliveryId) repeats += 1
    else strays.push(`${marker}: ${event.id} ${event.deliveryId} after ${known.eventId} ${known.deliveryId}`)
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const well = books.filter((_, index) => manners[index] === 'well')
  return {
    url: (index) => `http://127.0.0.1:${port}/hook/${index}`,
    expectAll(markers) {
      const missing = well.map((book) => markers.filter((marker) => !book.has(marker)).length)
      const total = missing.reduce((sum, count) => sum + count, 0)
      if (total > 0) throw new Error(`${total} of ${well.length * markers.length} deliveries are missing`)
    },
    latenciesMs: (markers) =>
      well.flatMap((book) => markers.map((marker) => book.get(marker)?.latencyMs ?? Number.NaN)),
    arrivals: () => well,
    requestsBut: (manner) => requests.reduce((sum, count, index) => sum + (manners[index] === manner ? 0 : count), 0),
    get repeats() {
      return repeats
    },
    strays,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function behave(manner: Manner, response: ServerResponse): void {
  if (manner === 'well') response.writeHead(204).end()
  else if (manner === 'fail') response.writeHead(500).end('no')
  else if (manner === 'reset') response.socket?.resetAndDestroy()
}
