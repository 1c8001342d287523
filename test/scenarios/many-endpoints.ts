import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How an endpoint responds: with 204, with 500, never, or by resetting the connection. */
export type Behaviour = 'healthy' | 'fail' | 'hang' | 'reset'

/** The first arrival of one marker at one endpoint. */
export interface Arrival {
  eventId: string
  deliveryId: string
  /** Since the event's timestamp. */
  latencyMs: number
}

/** Endpoints at one host, one path each. They record `account.updated` events by the account's customUserId, the marker. */
export interface ManyEndpoints {
  url(index: number): string
  /** Throws unless every healthy endpoint received every marker. */
  expectAll(markers: readonly string[]): void
  /** Latencies of all healthy endpoints. */
  latenciesMs(markers: readonly string[]): number[]
  /** By marker, one map per healthy endpoint. */
  arrivals(): ReadonlyMap<string, Arrival>[]
  /** Number of requests to unhealthy endpoints. */
  unhealthyRequests(): number
  /** Number of repeated requests with the same ids. */
  readonly duplicates: number
  /** Repeated requests with other ids. Every entry is a bug. */
  readonly mismatches: readonly string[]
  close(): Promise<void>
}

export async function startManyEndpoints(behaviours: readonly Behaviour[]): Promise<ManyEndpoints> {
  const arrivals = behaviours.map(() => new Map<string, Arrival>())
  const mismatches: string[] = []
  let unhealthyRequests = 0
  let duplicates = 0

  const server = createServer((request, response) => {
    const atMs = Date.now()
    const index = Number(request.url?.slice('/hook/'.length))
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    // The sender aborts requests to endpoints that hang.
    request.on('error', () => {})
    request.on('end', () => {
      const behaviour = behaviours[index] ?? 'fail'
      if (behaviour === 'healthy') record(index, Buffer.concat(chunks).toString('utf8'), atMs)
      else unhealthyRequests += 1
      respond(behaviour, response)
    })
  })

  function record(index: number, body: string, atMs: number): void {
    const event = JSON.parse(body)
    const marker = String(event.data.customUserId)
    const arrival = arrivals[index]?.get(marker)
    if (arrival === undefined) {
      const latencyMs = atMs - Date.parse(event.timestamp)
      arrivals[index]?.set(marker, { eventId: event.id, deliveryId: event.deliveryId, latencyMs })
    } else if (arrival.eventId === event.id && arrival.deliveryId === event.deliveryId) duplicates += 1
    else mismatches.push(`${marker}: ${event.id} ${event.deliveryId} after ${arrival.eventId} ${arrival.deliveryId}`)
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const healthy = arrivals.filter((_, index) => behaviours[index] === 'healthy')
  return {
    url: (index) => `http://127.0.0.1:${port}/hook/${index}`,
    expectAll(markers) {
      const missing = healthy.map((received) => markers.filter((marker) => !received.has(marker)).length)
      const total = missing.reduce((sum, count) => sum + count, 0)
      if (total > 0) throw new Error(`${total} of ${healthy.length * markers.length} deliveries are missing`)
    },
    latenciesMs: (markers) =>
      healthy.flatMap((received) => markers.map((marker) => received.get(marker)?.latencyMs ?? Number.NaN)),
    arrivals: () => healthy,
    unhealthyRequests: () => unhealthyRequests,
    get duplicates() {
      return duplicates
    },
    mismatches,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function respond(behaviour: Behaviour, response: ServerResponse): void {
  if (behaviour === 'healthy') response.writeHead(204).end()
  else if (behaviour === 'fail') response.writeHead(500).end('no')
  else if (behaviour === 'reset') response.socket?.resetAndDestroy()
}
