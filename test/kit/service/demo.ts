import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'

/** The built demo in a process of its own. */
export interface RunningDemo {
  output(): string
  /** The URL of its application, once it is printed. */
  url(): Promise<string>
  /** Sends the signal and returns the exit code. Works twice. */
  end(signal: NodeJS.Signals): Promise<number | null>
  /** Lists the files that it left in the folder for temporary files. */
  leftovers(): string[]
  close(): Promise<void>
}

export interface DemoOptions {
  provider?: string
  booking?: boolean
  environment?: Record<string, string>
  /** On a terminal, which `script` (util-linux) emulates, instead of a pipe. */
  terminal?: boolean
}

export function startDemo({
  provider = 'imap',
  booking = false,
  environment = {},
  terminal = false,
}: DemoOptions = {}): RunningDemo {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-demo-test-'))
  const own = [process.execPath, 'dist/posthorn.js', 'demo', '--provider', provider, ...(booking ? ['--booking'] : [])]
  const [command = '', ...args] = terminal ? ['script', '-qefc', `exec ${own.join(' ')}`, '/dev/null'] : own
  const env = { PATH: process.env.PATH, TMPDIR: folder, ...environment }
  const demo = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(demo, 'close')
  let output = ''
  for (const stream of [demo.stdout, demo.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const end = async (signal: NodeJS.Signals) => {
    demo.kill(signal)
    await ended
    return demo.exitCode
  }
  return {
    output: () => output,
    async url() {
      const found = () => /click "Connect a mailbox":\s+(http\S+)/.exec(output)?.[1] ?? false
      return String(await eventually(found))
    },
    end,
    leftovers: () => readdirSync(folder),
    async close() {
      await end('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
