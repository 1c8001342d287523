import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export interface BareProcess {
  pid: number
  /** The line that the process printed when it was ready. */
  output: string
  stop(): void
}

/** Runs bare clients as a process of their own, until they are ready. */
export async function startBareProcess(file: string, options: object): Promise<BareProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', file], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.write(`${JSON.stringify(options)}\n`)
  const exited = once(child, 'exit').then(() => {
    throw new Error(`${file} ended before it was ready.`)
  })
  const [output] = await Promise.race([once(child.stdout, 'data'), exited])
  exited.catch(() => {})
  return { pid: child.pid ?? 0, output: String(output), stop: () => void child.kill() }
}

/** Called in that process: the options of `startBareProcess`. */
export async function readOptions<T>(): Promise<T> {
  const [line] = await once(createInterface({ input: process.stdin }), 'line')
  return JSON.parse(String(line))
}
