import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { cpuMs, percentile } from './figures.ts'

/** Requests to one server: its pages in turn, each with the body that every response must have. */
export interface LoadPlan {
  url: string
  key: string
  pages: readonly { path: string; body: string }[]
  /** Ends when each page was requested once. */
  isOnce?: boolean
}

export interface LoadResult {
  requestsPerSecond: number
  /** Milliseconds. */
  p50: number
  p99: number
  /** CPU time of the load generator per request, in ms. */
  ownCpuMs: number
  requests: number
}

export interface LoadGenerator {
  /** Sends requests for this time. Throws when a response differs from the plan. */
  run(plan: LoadPlan, forMs: number): Promise<LoadResult>
  stop(): void
}

const CONNECTIONS = 10

/** Sends requests over ten kept-alive connections, each with one request at a time, from its own process. */
export async function startLoad(): Promise<LoadGenerator> {
  const child = spawn(process.execPath, ['-e', SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  return {
    async run(plan, forMs) {
      const before = await cpuMs(child.pid ?? 0)
      const line = once(lines, 'line')
      child.stdin.write(`${JSON.stringify({ ...plan, forMs, connections: CONNECTIONS })}\n`)
      const { error, times, tookMs }: { error?: string; times: number[]; tookMs: number } = JSON.parse(
        String((await line)[0]),
      )
      if (error !== undefined) throw new Error(error)
      const used = (await cpuMs(child.pid ?? 0)) - before
      return {
        requestsPerSecond: (times.length / tookMs) * 1000,
        p50: percentile(times, 0.5),
        p99: percentile(times, 0.99),
        ownCpuMs: used / times.length,
        requests: times.length,
      }
    },
    stop: () => void child.kill(),
  }
}

/** Raw sockets, because an HTTP client of Node needs as much CPU as the server. */
const SCRIPT = `
const net = require('node:net')
require('node:readline').createInterface({ input: process.stdin }).on('line', async (line) => {
  const result = await run(JSON.parse(line)).catch((error) => ({ error: String(error), times: [], tookMs: 1 }))
  process.stdout.write(JSON.stringify(result) + '\\n')
})
async function run({ url, key, pages, forMs, connections, isOnce = false }) {
  const { hostname, port, host } = new URL(url)
  const prepared = pages.map(({ path, body }) => ({
    path,
    body: Buffer.from(body),
    request: 'GET ' + path + ' HTTP/1.1\\r\\nhost: ' + host + '\\r\\nauthorization: Bearer ' + key + '\\r\\n\\r\\n',
  }))
  const startedMs = performance.now()
  const endMs = startedMs + forMs
  const times = []
  let next = 0
  const connection = () => new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname)
    let page, sentMs, chunks, size, total
    const send = () => {
      if (isOnce && next >= prepared.length) return socket.end(resolve)
      page = prepared[next++ % prepared.length]
      chunks = []
      size = 0
      total = undefined
      sentMs = performance.now()
      socket.write(page.request)
    }
    const finish = () => {
      const response = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
      times.push(performance.now() - sentMs)
      if (!page.body.equals(response.subarray(total - page.body.length))) {
        return reject(new Error('Wrong body of ' + page.path + ': ' + response.toString('utf8', 0, 1000)))
      }
      if (performance.now() < endMs) send()
      else socket.end(resolve)
    }
    socket.setNoDelay(true).on('error', reject).on('close', () => reject(new Error('the server closed a connection')))
    socket.on('connect', send).on('data', (chunk) => {
      chunks.push(chunk)
      size += chunk.length
      if (total === undefined) {
        const end = chunk.indexOf('\\r\\n\\r\\n')
        const head = chunk.toString('latin1', 0, end)
        const length = /content-length: (\\d+)/i.exec(head)
        if (!head.startsWith('HTTP/1.1 200') || length === null || Number(length[1]) !== page.body.length) {
          return reject(new Error('Unexpected response to ' + page.path + ': ' + head))
        }
        total = end + 4 + Number(length[1])
      }
      if (size === total) finish()
    })
  })
  await Promise.all(Array.from({ length: connections }, connection))
  return { times, tookMs: performance.now() - startedMs }
}
`
