import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../test/kit/eventually.ts'
import { startServiceProcess } from '../test/kit/service/process.ts'
import { client } from '../test/scenarios/client.ts'
import { connectMailboxes, PASSWORD, userNames } from '../test/scenarios/mailboxes.ts'
import { startDovecot } from '../test/servers/dovecot.ts'
import { median } from './figures.ts'

const RUNS = 3
const ACCOUNTS = 50
const PORT = 18_090
const HELLO = `import('fastify').then(({ default: fastify }) => fastify()
  .get('/health/ready', () => ({ status: 'ready' })).listen({ host: '127.0.0.1', port: ${PORT} }))`
/** npm without a program: what it adds to one. */
const NPM = 'process.exit()'

/** From the start of the process until it is healthy, on an existing file store; then until 50 IMAP accounts are connected. */
export async function start(say: (line: string) => void): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-bench-'))
  const dovecot = await startDovecot()
  try {
    const users = userNames(ACCOUNTS)
    for (const user of users) await dovecot.addUser(user, PASSWORD)
    const linking = await startServiceProcess({ dataDir })
    await connectMailboxes(client(linking.url, linking.key), dovecot, users)
    await linking.stop()

    const samples = { node: [], npm: [], hello: [], service: [], npmStart: [], connected: [] } as Record<
      string,
      number[]
    >
    for (let run = 0; run < RUNS; run += 1) {
      samples.node?.push(await untilExit('node', ['-e', '']))
      samples.npm?.push(await untilExit('npm', ['exec', '--silent', '--', 'node', '-e', NPM]))
      samples.hello?.push(await untilReady(dataDir, 'node', ['-e', HELLO]))
      samples.npmStart?.push(await untilReady(dataDir, 'npm', ['start', '--silent']))
      const connecting = async (startedMs: number) => {
        await allRan()
        samples.connected?.push(performance.now() - startedMs)
      }
      samples.service?.push(await untilReady(dataDir, 'node', ['dist/posthorn.js', 'start'], connecting))
    }
    const line = (what: string, name: string) => say(`${what.padEnd(41)}${figures(samples[name] ?? [])}`)
    line("bare: node -e ''", 'node')
    line('bare: npm that runs nothing', 'npm')
    line('bare: Fastify with one route, healthy', 'hello')
    line('node dist/posthorn.js start, healthy', 'service')
    line('npm start, healthy', 'npmStart')
    line(`${ACCOUNTS} accounts connected, after healthy`, 'connected')
    say('limits: healthy 600 ms, connected 2,000 ms')
  } finally {
    await dovecot.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

const KEY = 'bench-key-0123456789abcdef0123456789'

/** Milliseconds until the program responds as ready. Ends it after `whenReady`. */
async function untilReady(
  dataDir: string,
  command: string,
  args: readonly string[],
  whenReady: (readyMs: number) => Promise<void> = async () => {},
): Promise<number> {
  const startedMs = performance.now()
  const child = run(command, args, { PORT: String(PORT), HOST: '127.0.0.1', DATA_DIR: dataDir, SERVICE_API_KEY: KEY })
  const exited = once(child, 'exit')
  try {
    await eventually(async () => (await fetch(`http://127.0.0.1:${PORT}/health/ready`)).ok, 60_000, 5)
    const readyMs = performance.now()
    await whenReady(readyMs)
    return readyMs - startedMs
  } finally {
    child.kill('SIGTERM')
    await exited
  }
}

async function untilExit(command: string, args: readonly string[]): Promise<number> {
  const startedMs = performance.now()
  await once(run(command, args, {}), 'exit')
  return performance.now() - startedMs
}

function run(command: string, args: readonly string[], environment: Record<string, string>): ChildProcess {
  const { PATH, HOME } = process.env
  return spawn(command, args, { stdio: 'ignore', env: { PATH, HOME, LOG_LEVEL: 'warn', ...environment } })
}

/** Every account has run once without a failure, so that its connection is open and waits for changes. */
async function allRan(): Promise<void> {
  const api = client(`http://127.0.0.1:${PORT}`, KEY)
  await eventually(
    async () => {
      const totals = await api.call<{ completed: number; failed: number }>('GET', '/debounced-queue/status')
      if (totals.failed > 0) throw new Error(`${totals.failed} syncs failed`)
      return totals.completed >= ACCOUNTS
    },
    60_000,
    10,
  )
}

const figures = (samples: readonly number[]) =>
  `${samples.map((ms) => ms.toFixed(0)).join(' · ')} ms, median ${median(samples).toFixed(0)} ms`
