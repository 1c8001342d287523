import { createServer } from 'node:net'
import { HOST } from './loopback.ts'

/**
 * Below 32768, where Linux begins to choose ports for servers that ask for any. A port from there could be given to another
 * server between the probe and the start of the server that it is for.
 */
const FIRST = 10_000
const PORTS_PER_WORKER = 2_000
const WORKERS = 11

const start = FIRST + (Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS) * PORTS_PER_WORKER
let offset = Math.floor(Math.random() * PORTS_PER_WORKER)

/** A port of 127.0.0.1 that nothing listens on and that no other worker of the test run gets. */
export async function freePort(): Promise<number> {
  for (let probed = 0; probed < PORTS_PER_WORKER; probed += 1) {
    offset = (offset + 1) % PORTS_PER_WORKER
    if (await isFree(start + offset)) return start + offset
  }
  throw new Error(`The ports from ${start} to ${start + PORTS_PER_WORKER} are all in use.`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, HOST, () => probe.close(() => resolve(true)))
  })
}
