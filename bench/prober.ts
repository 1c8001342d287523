import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Samples {
  /** Milliseconds from when the request was due until its response was read; failed requests count as 10,000. */
  live: number[]
  list: number[]
}

export interface Prober {
  /** Requests due since the last call. */
  take(): Promise<Samples>
  stop(): void
}

/** How often each is requested. */
const USUAL_PACE = { liveMs: 10, listMs: 50 }

/** Requests `/health/live` and the list page, in a separate process so that it measures only the service. */
export async function startProber(
  base: string,
  listPath: string,
  key: string,
  { liveMs, listMs } = USUAL_PACE,
): Promise<Prober> {
  const args = ['-e', SCRIPT, base, listPath, key, String(liveMs), String(listMs)]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const take = async () => {
    const line = once(lines, 'line')
    child.stdin.write('take\n')
    return JSON.parse(String((await line)[0])) as Samples
  }
  // Its own first requests are slow, while V8 compiles.
  await sleep(WARM_UP_MS)
  return {
    take,
    stop: () => void child.kill(),
  }
}

const WARM_UP_MS = 2000

const SCRIPT = `
const [base, listPath, key, liveMs, listMs] = process.argv.slice(1)
const http = require('node:http')
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 })
let samples = { live: [], list: [] }
function ask(kind, path, dueMs) {
  const into = samples[kind]
  const done = (ms) => into.push(ms)
  const request = http.get(base + path, { agent, headers: { authorization: 'Bearer ' + key }, timeout: 10000 }, (response) => {
    response.resume().on('end', () => done(response.statusCode === 200 ? performance.now() - dueMs : 10000))
  })
  request.on('timeout', () => request.destroy()).on('error', () => done(10000))
}
function every(ms, kind, path) {
  setInterval(() => ask(kind, path, performance.now()), ms)
}
every(Number(liveMs), 'live', '/health/live')
every(Number(listMs), 'list', listPath)
process.stdin.on('data', () => {
  process.stdout.write(JSON.stringify(samples) + '\\n')
  samples = { live: [], list: [] }
})
`
