import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpuMs } from './figures.ts'
import type { LoadGenerator, LoadResult } from './load.ts'

type Page = { path: string; body: string }

export interface BareServer {
  run(
    load: LoadGenerator,
    pages: readonly Page[],
    forMs: number,
  ): Promise<LoadResult & { cpuMs: number; databaseCpuMs: number }>
  stop(): void
}

/** Fastify with one route that sends these bodies from memory, in its own process. */
export async function startBareServer(pages: readonly Page[]): Promise<BareServer> {
  const child = spawn(process.execPath, ['-e', SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(Object.fromEntries(pages.map(({ path, body }) => [path, body]))))
  const [port] = await once(child.stdout, 'data')
  const url = `http://127.0.0.1:${String(port).trim()}`
  return {
    async run(load, requested, forMs) {
      const before = await cpuMs(child.pid ?? 0)
      const result = await load.run({ url, key: 'none', pages: requested }, forMs)
      return { ...result, cpuMs: ((await cpuMs(child.pid ?? 0)) - before) / result.requests, databaseCpuMs: 0 }
    },
    stop: () => void child.kill(),
  }
}

const SCRIPT = `
let text = ''
process.stdin.setEncoding('utf8').on('data', (chunk) => { text += chunk }).on('end', async () => {
  const bodies = new Map(Object.entries(JSON.parse(text)))
  const app = require('fastify')()
  app.get('/accounts/:accountId/messages', (request, reply) =>
    reply.type('application/json; charset=utf-8').send(bodies.get(request.url)))
  await app.listen({ port: 0, host: '127.0.0.1' })
  console.log(app.server.address().port)
})
`
