import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent } from 'undici'
import { messagesFeature } from '../src/mail/messages/index.ts'

/** Event data of a typical message, about 1.3 kB as JSON. */
export const DATA = { ...messagesFeature.events['message.received'].example.data, snippet: 'Dear Grace, '.repeat(20) }

export interface Sink {
  url: string
  /** Number of requests so far. */
  received(): Promise<number>
  stop(): void
}

/** A receiver in its own process that returns 204 for every request. */
export async function startSink(): Promise<Sink> {
  const child = spawn(process.execPath, ['-e', SINK], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = await once(child.stdout, 'data')
  const origin = `http://127.0.0.1:${String(port).trim()}`
  return {
    url: `${origin}/hook`,
    received: async () => Number(await (await fetch(`${origin}/received`)).text()),
    stop: () => void child.kill(),
  }
}

const SINK = `
let received = 0
const server = require('node:http').createServer((request, response) => {
  if (request.url === '/received') return response.end(String(received))
  received += 1
  request.resume().on('end', () => response.writeHead(204).end())
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
`

/** One request that a recorder received. */
export interface Recorded {
  /** Wall time with fractions, comparable between processes. */
  atMs: number
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
    requests.push({ atMs, headers: request.headers, body: Buffer.concat(chunks).toString() })
    response.writeHead(204).end()
  })
})
// The connections last from one burst to the next.
server.keepAliveTimeout = 600000
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
`

/** Measures requests per second without storing, signing or recording. */
export async function bareUndici(url: string, parallel: number, forMs: number): Promise<number> {
  const agent = new Agent()
  const { origin, pathname } = new URL(url)
  const body = JSON.stringify({ deliveryId: 'dlv_bench', test: false, id: 'evt_bench', data: DATA })
  const headers = { 'content-type': 'application/json' }
  const startedMs = performance.now()
  let sent = 0
  const post = async () => {
    while (performance.now() - startedMs < forMs) {
      const response = await agent.request({ origin, path: pathname, method: 'POST', headers, body })
      await response.body.dump()
      sent += 1
    }
  }
  await Promise.all(Array.from({ length: parallel }, post))
  await agent.close()
  return (sent / (performance.now() - startedMs)) * 1000
}
