import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from './figures.ts'
import { inTurns, ROUNDS } from './rounds.ts'
import { connectDovecot, connectScripted, DOVECOT_ACCOUNTS } from './start-accounts.ts'
import { runUntilExit, type Started, startUntilReady } from './start-process.ts'
import { judge, sayVerdict } from './verdict.ts'

/** The cases: without accounts, 50 of Dovecot, and any larger number of the scripted server. */
const CHOSEN = (process.env.BENCH_ACCOUNTS ?? '0,50,5000').split(',').map(Number)
const HEALTHY = { atMost: 600 }
const HELLO = `import('fastify').then(({ default: fastify }) => fastify()
  .get('/health/ready', () => ({ status: 'ready' })).listen({ host: '127.0.0.1', port: process.env.PORT }))`
/** npm without a program: what it adds to one. */
const NPM = 'process.exit()'

/**
 * From the start of the process until it is healthy, beside Fastify with one route; then until 50 accounts of Dovecot and 5,000 of a
 * scripted server are connected, beside as many bare imapflow clients in one process, while new messages arrive.
 */
export async function start(say: (line: string) => void): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-bench-'))
  try {
    if (CHOSEN.includes(0)) await withoutAccounts(dataDir, say)
    if (CHOSEN.includes(DOVECOT_ACCOUNTS)) await connectDovecot(say)
    for (const accounts of CHOSEN.filter((count) => count > DOVECOT_ACCOUNTS)) await connectScripted(accounts, say)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function withoutAccounts(dataDir: string, say: (line: string) => void): Promise<void> {
  // The first start creates the store.
  await untilHealthy(() => startUntilReady(dataDir))
  const compared = await inTurns(
    () => untilHealthy(() => startUntilReady(dataDir)),
    () => untilHealthy(() => startUntilReady(dataDir, ['node', '-e', HELLO])),
  )
  sayVerdict(say, judge({ bench: 'start', what: 'healthy, no accounts', unit: 'ms', limit: HEALTHY }, compared))
  const others: Record<string, () => Promise<number>> = {
    'npm start, healthy': () => untilHealthy(() => startUntilReady(dataDir, ['npm', 'start', '--silent'])),
    "bare: node -e ''": () => runUntilExit(['node', '-e', '']),
    'bare: npm that runs nothing': () => runUntilExit(['npm', 'exec', '--silent', '--', 'node', '-e', NPM]),
  }
  for (const [what, run] of Object.entries(others)) {
    const samples: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) samples.push(await run())
    say(`  ${what.padEnd(39)}${median(samples).toFixed(0)} ms`)
  }
}

async function untilHealthy(run: () => Promise<Started>): Promise<number> {
  const { readyMs, stop } = await run()
  await stop()
  return readyMs
}
