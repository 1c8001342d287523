import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { eventually } from './eventually.ts'

/** Where a service keeps what it knows, and what else it is told. */
export interface ServicePlace {
  dataDir: string
  databaseUrl?: string | undefined
  redisUrl?: string | undefined
  env?: Record<string, string>
}

/** For services that share a database. */
export const SHARED_KEYS = { ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}` }

export interface ServiceOptions extends ServicePlace {
  /** Default: any free port. Give it to start again at the same address. */
  port?: number
}

/** The built service as a process of its own, as operators run it: for kill tests, soak and bench. */
export interface ServiceProcess {
  url: string
  port: number
  key: string
  pid: number
  /** Everything it wrote to stdout, one JSON record per line. */
  output(): string
  /** Sends a signal; for SIGKILL and SIGTERM use `kill` and `stop`. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  kill(): Promise<void>
  /** SIGTERM; answers the exit code. */
  stop(): Promise<number | null>
  memoryBytes(): Promise<number>
  /** What is in use after collecting garbage, which stops the service for some 50 ms. Only when started with `HEAP_PROBE`. */
  heapBytesAfterGc(): Promise<number>
}

/** Environment for `heapBytesAfterGc`. */
export const HEAP_PROBE = { NODE_OPTIONS: `--import=${new URL('./heap-probe.mjs', import.meta.url).href}` }

const TEST_KEY = 'test-key-0123456789abcdef'
const START_TIMEOUT_MS = 60_000

export async function startServiceProcess(options: ServiceOptions): Promise<ServiceProcess> {
  const port = options.port ?? (await freePort())
  const url = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, ['dist/posthorn.js', 'start'], {
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      HOST: '127.0.0.1',
      DATA_DIR: options.dataDir,
      ...(options.databaseUrl !== undefined && { DATABASE_URL: options.databaseUrl }),
      ...(options.redisUrl !== undefined && { REDIS_URL: options.redisUrl }),
      SERVICE_API_KEY: TEST_KEY,
      LOG_LEVEL: 'warn',
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = collect(child)
  const exited = once(child, 'exit')
  try {
    await eventually(async () => {
      if (child.exitCode !== null) return true
      return (await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(2000) })).ok
    }, START_TIMEOUT_MS)
    if (child.exitCode !== null) throw new Error('it ended')
  } catch (error) {
    child.kill('SIGKILL')
    throw new Error(`the service did not become ready: ${output().slice(-2000)}`, { cause: error })
  }
  return {
    url,
    port,
    key: TEST_KEY,
    pid: child.pid ?? 0,
    output,
    signal: (name) => void child.kill(name),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    async stop() {
      child.kill('SIGTERM')
      await exited
      return child.exitCode
    },
    memoryBytes: () => residentBytes(child.pid ?? 0),
    async heapBytesAfterGc() {
      const before = lastLiveHeap(output()).look
      child.kill('SIGUSR2')
      await eventually(() => lastLiveHeap(output()).look > before)
      return lastLiveHeap(output()).bytes
    },
  }
}

function collect(child: ChildProcess): () => string {
  let text = ''
  const keep = (chunk: Buffer) => {
    text = (text + chunk.toString('utf8')).slice(-MAX_OUTPUT)
  }
  child.stdout?.on('data', keep)
  child.stderr?.on('data', keep)
  return () => text
}

const MAX_OUTPUT = 1024 * 1024

function lastLiveHeap(output: string): { look: number; bytes: number } {
  const [, look, bytes] = [...output.matchAll(/^live heap (\d+) (\d+)$/gm)].at(-1) ?? []
  return { look: Number(look ?? 0), bytes: Number(bytes ?? 0) }
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
