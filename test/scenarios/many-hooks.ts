import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How an endpoint behaves: answers 204, answers 500, never answers, or cuts the connection. */
export type Manner = 'well' | 'fail' | 'hang' | 'reset'

/** Endpoints at one host, told apart by their paths, that keep books of `account.updated` by its customUserId. */
export interface ManyHooks {
  url(index: number): string
  /** Throws unless every endpoint that behaves well has every marker. */
  expectAll(markers: readonly string[]): void
  /** From the event's timestamp to its first arrival, over all that behave well. */
  latenciesMs(markers: readonly string[]): number[]
  /** Requests to endpoints of any other manner. */
  requestsBut(manner: Manner): number
  /** Arrivals of what had arrived. */
  readonly repeats: number
  close(): Promise<void>
}

export async function startManyHooks(manners: readonly Manner[]): Promise<ManyHooks> {
  const books = manners.map(() => new Map<string, number>())
  const requests = manners.map(() => 0)
  let repeats = 0

  const server = createServer((request, response) => {
    const index = Number(request.url?.slice('/hook/'.length))
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    // The sender gives up on those that hang, in the middle of nothing.
    request.on('error', () => {})
    request.on('end', () => {
      requests[index] = (requests[index] ?? 0) + 1
      const manner = manners[index] ?? 'fail'
      if (manner === 'well') note(index, Buffer.concat(chunks).toString('utf8'))
      behave(manner, response)
    })
  })

  function note(index: number, body: string): void {
    const event = JSON.parse(body)
    const book = books[index]
    const marker = String(event.data.customUserId)
    if (book?.has(marker)) repeats += 1
    else book?.set(marker, Date.now() - Date.parse(event.timestamp))
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
    latenciesMs: (markers) => well.flatMap((book) => markers.map((marker) => book.get(marker) ?? Number.NaN)),
    requestsBut: (manner) => requests.reduce((sum, count, index) => sum + (manners[index] === manner ? 0 : count), 0),
    get repeats() {
      return repeats
    },
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
