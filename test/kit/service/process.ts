import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { systemClock } from '../../../src/platform/time/clock.ts'
import { freePort } from '../../servers/free-port.ts'
import { eventually } from '../eventually.ts'

/** Storage and extra environment of a service process. */
export interface ServicePlace {
  dataDir: string
  databaseUrl?: string | undefined
  redisUrl?: string | undefined
  env?: Record<string, string>
}

/** The key ring for services that share a database. */
export const SHARED_KEYS = { ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}` }

export interface ServiceOptions extends ServicePlace {
  /** Default: any free port. Pass it to restart at the same address. */
  port?: number
  /** The program of Node. Default: the one that runs the tests. */
  node?: string
  /** The folder in which the service is started. Default: this checkout. */
  folder?: string
  /** The file that runs the service, and its arguments. Default: the same command as `npm start`. */
  program?: readonly string[]
}

/** The built service in its own process, as operators run it. */
export interface ServiceProcess {
  url: string
  port: number
  key: string
  pid: number
  /** The last megabyte of its output, one JSON log record per line. */
  output(): string
  /** Suspends or resumes the process. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  kill(): Promise<void>
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number | null>
  memoryBytes(): Promise<number>
  /** Heap after garbage collection, which pauses the service for about 50 ms. Needs `HEAP_PROBE`. */
  heapBytesAfterGc(): Promise<number>
}

/** Environment for `heapBytesAfterGc`. */
export const HEAP_PROBE = { NODE_OPTIONS: `--import=${new URL('./heap-probe.mjs', import.meta.url).href}` }

/** Environment that moves the wall clock of a service, so that it starts at the given time. */
export function shiftedClock(startsMs: number): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${new URL('./shifted-clock.mjs', import.meta.url).href}`,
    CLOCK_SHIFT_MS: String(startsMs - systemClock.now()),
  }
}

const TEST_KEY = 'test-key-0123456789abcdef0123456789'

export async function startServiceProcess(options: ServiceOptions): Promise<ServiceProcess> {
  const port = options.port ?? (await freePort())
  const url = `http://127.0.0.1:${port}`
  const program = options.program ?? ['scripts/start.mjs', 'posthorn', 'start']
  const child = spawn(options.node ?? process.execPath, program, {
    ...(options.folder !== undefined && { cwd: options.folder }),
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      HOST: '127.0.0.1',
      DATA_DIR: options.dataDir,
      ...(options.databaseUrl !== undefined && { DATABASE_URL: options.databaseUrl }),
      ...(options.redisUrl !== undefined && { REDIS_URL: options.redisUrl }),
      SERVICE_API_KEY: TEST_KEY,
      LOG_LEVEL: 'warn',
      OUTBOX_COPY_WAIT_SECONDS: '0',
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = collect(child)
  const exited = once(child, 'exit')
  try {
    await eventually(async () => {
      if (child.exitCode !== null) return true
      return (await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(10_000) })).ok
    })
    if (child.exitCode !== null) throw new Error('the process exited')
  } catch (error) {
    child.kill('SIGKILL')
    throw new Error(`The service did not become ready: ${output().slice(-2000)}`, { cause: error })
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
      const before = lastHeapProbe(output()).count
      child.kill('SIGUSR2')
      await eventually(() => lastHeapProbe(output()).count > before)
      return lastHeapProbe(output()).bytes
    },
  }
}

function collect(child: ChildProcess): () => string {
  let chunks: Buffer[] = []
  let sizeBytes = 0
  const append = (chunk: Buffer) => {
    chunks.push(chunk)
    sizeBytes += chunk.length
    if (sizeBytes < 2 * MAX_OUTPUT) return
    chunks = [Buffer.concat(chunks).subarray(-MAX_OUTPUT)]
    sizeBytes = MAX_OUTPUT
  }
  child.stdout?.on('data', append)
  child.stderr?.on('data', append)
  return () => Buffer.concat(chunks).subarray(-MAX_OUTPUT).toString('utf8')
}

const MAX_OUTPUT = 1024 * 1024

function lastHeapProbe(output: string): { count: number; bytes: number } {
  const [, count, bytes] = [...output.matchAll(/^heap probe (\d+) (\d+)$/gm)].at(-1) ?? []
  return { count: Number(count ?? 0), bytes: Number(bytes ?? 0) }
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024
}
