import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { verifyRequest } from '../test/servers/receiver.ts'

/** One request that a recorder received. */
export interface Recorded {
  /** Wall time with fractions, comparable between processes. */
  atMs: number
  path: string
  headers: Record<string, string>
  body: string
}

export interface Recorder {
  url: string
  /** Number of requests since the last `take`. */
  count(): Promise<number>
  /** Returns the requests and forgets them. */
  take(): Promise<Recorded[]>
  stop(): void
}

/** A receiver in its own process that keeps every request, so that its content is checked after the measurement. */
export async function startRecorder(): Promise<Recorder> {
  const child = spawn(process.execPath, ['-e', RECORDER], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = await once(child.stdout, 'data')
  const origin = `http://127.0.0.1:${String(port).trim()}`
  return {
    url: `${origin}/hook`,
    count: async () => Number(await (await fetch(`${origin}/count`)).text()),
    take: async () => (await (await fetch(`${origin}/take`)).json()) as Recorded[],
    stop: () => void child.kill(),
  }
}

const RECORDER = `
let requests = []
const server = require('node:http').createServer((request, response) => {
  if (request.url === '/count') return response.end(String(requests.length))
  if (request.url === '/take') {
    response.end(JSON.stringify(requests))
    requests = []
    return
  }
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
    const atMs = performance.timeOrigin + performance.now()
    requests.push({ atMs, path: request.url, headers: request.headers, body: Buffer.concat(chunks).toString() })
    response.writeHead(204).end()
  })
})
// The connections last from one burst to the next.
server.keepAliveTimeout = 600000
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
`

/** The message that a request is about. */
export interface Reported {
  subject: string
  /** A request that is repeated because its response was lost has the same id. */
  id: string
}

/** Undefined for a request that the application would refuse. */
export function readSigned({ headers, body }: Recorded, secret: string): Reported | undefined {
  try {
    verifyRequest(secret, { headers, body })
    const { id, data } = JSON.parse(body)
    return { id, subject: data.subject }
  } catch {
    return undefined
  }
}

/** A request of the bare client (`bare-webhooks.ts`); undefined for any other one. */
export function readBare({ body }: Recorded): Reported | undefined {
  const { uid, header } = JSON.parse(body)
  const subject = /^Subject: (.*)\r$/m.exec(header ?? '')?.[1]
  return subject === undefined ? undefined : { id: String(uid), subject }
}

/** How often each message was reported. All but `arrivedAtMs` are numbers of requests or messages, which must be 0. */
export interface Tally {
  /** First arrivals by subject. */
  arrivedAtMs: Map<string, number>
  lost: number
  /** Requests that were sent again under the same id. */
  repeated: number
  twice: number
  /** Requests about no expected message, or without a valid signature. */
  wrong: number
}

export function tally(
  requests: readonly Recorded[],
  expected: readonly string[],
  read: (request: Recorded) => Reported | undefined,
): Tally {
  const ids = new Map(expected.map((subject) => [subject, new Set<string>()]))
  const arrivedAtMs = new Map<string, number>()
  let wrong = 0
  for (const request of requests) {
    const reported = read(request)
    const found = reported === undefined ? undefined : ids.get(reported.subject)
    if (reported === undefined || found === undefined) {
      wrong += 1
      continue
    }
    found.add(reported.id)
    const earlierMs = arrivedAtMs.get(reported.subject) ?? Number.POSITIVE_INFINITY
    arrivedAtMs.set(reported.subject, Math.min(earlierMs, request.atMs))
  }
  const counts = [...ids.values()].map(({ size }) => size)
  return {
    arrivedAtMs,
    lost: counts.filter((count) => count === 0).length,
    repeated: requests.length - wrong - counts.reduce((sum, count) => sum + count, 0),
    twice: counts.filter((count) => count > 1).length,
    wrong,
  }
}
