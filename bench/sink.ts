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
