import { execFile } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ExampleFile } from '../../../src/platform/http/openapi/examples.ts'

export interface SampleRun {
  source: string
  key: string
  /** Sends the request of the sample to the service of the test. */
  send: typeof fetch
  /** The files of the working folder. */
  files: readonly ExampleFile[]
}

const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor

/** Runs a TypeScript sample as it is, with files of its own. Returns what it printed, or throws what it throws. */
export async function runTypescript({ source, key, send, files }: SampleRun): Promise<unknown[][]> {
  const printed: unknown[][] = []
  const names = {
    fetch: send,
    process: { env: { SERVICE_API_KEY: key } },
    console: { log: (...values: unknown[]) => printed.push(values) },
    openAsBlob: async (filename: string, { type }: { type: string }) => {
      const file = files.find((one) => one.filename === filename)
      if (file === undefined) throw new Error(`The example has no file ${filename}.`)
      return new Blob([file.content], { type })
    },
  }
  const body = source.replace("import { openAsBlob } from 'node:fs'\n", '')
  await new AsyncFunction(...Object.keys(names), body)(...Object.values(names))
  return printed
}

/** Runs a curl sample in a new folder below this one, for its download. Returns the status of the response. */
export async function runCurl(source: string, key: string, folder: string): Promise<number> {
  const cwd = await mkdtemp(join(folder, 'curl-'))
  const command = source.replace(/^curl /, `curl -sS -w '\\n%{http_code}' `)
  const env = { PATH: process.env.PATH, SERVICE_API_KEY: key }
  const { stdout } = await promisify(execFile)('bash', ['-euc', command], {
    cwd,
    env,
    encoding: 'latin1',
    maxBuffer: 16 * 1024 * 1024,
  })
  return Number(stdout.slice(stdout.lastIndexOf('\n') + 1))
}
