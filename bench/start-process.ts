import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../test/servers/free-port.ts'

export const KEY = 'bench-key-0123456789abcdef0123456789'
const SERVICE = ['node', 'dist/posthorn.js', 'start']
const PATIENCE_MS = 60_000
const CHECK_MS = 5

export interface Started {
  url: string
  /** From the start of the process until it responded as ready. */
  readyMs: number
  stop(): Promise<void>
}

/** Starts a program whose `/health/ready` says when it is ready, by default the service. */
export async function startUntilReady(
  dataDir: string,
  command = SERVICE,
  environment: Record<string, string> = {},
): Promise<Started> {
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const startedMs = performance.now()
  const child = run(command, {
    PORT: port,
    HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    SERVICE_API_KEY: KEY,
    ...environment,
  })
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
  }
  while (!(await isReady(url))) {
    if (child.exitCode !== null || performance.now() - startedMs > PATIENCE_MS) {
      await stop()
      throw new Error(`${command.join(' ')} did not become ready.`)
    }
    await sleep(CHECK_MS)
  }
  return { url, readyMs: performance.now() - startedMs, stop }
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  )
}

export async function runUntilExit(command: readonly string[]): Promise<number> {
  const startedMs = performance.now()
  await once(run(command, {}), 'exit')
  return performance.now() - startedMs
}

function run([program = '', ...args]: readonly string[], environment: Record<string, string>): ChildProcess {
  const { PATH, HOME } = process.env
  return spawn(program, args, { stdio: 'ignore', env: { PATH, HOME, LOG_LEVEL: 'warn', ...environment } })
}
