import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { eventually } from '../kit/eventually.ts'

/** A response of the API, or undefined for a request without one. */
interface Answer {
  request: string
  status: number | undefined
  message: string
}

/** Reads and writes over the API, one after the other, until it is stopped. */
export interface FaultLoad {
  /** All responses since the last call. */
  take(): Answer[]
  /** Waits until a read and a write succeed again; the milliseconds that this took. */
  recovered(): Promise<number>
  /** Requires that everything that was acknowledged is stored. Returns how much that is. */
  expectNothingLost(): Promise<number>
  stop(): Promise<void>
}

const PACE_MS = 100
const REQUEST_MS = 30_000
const RECOVERED_MS = 60_000

export function startFaultLoad(url: string, key: string): FaultLoad {
  let answers: Answer[] = []
  const acknowledged: string[] = []
  const ended = new AbortController()

  async function call(method: string, path: string, body?: object): Promise<{ response: Answer; json: unknown }> {
    const request = `${method} ${path.replace(/[0-9A-Za-z_-]{20,}/, ':code')}`
    try {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(REQUEST_MS),
      })
      const json: unknown = await response.json()
      return { response: { request, status: response.status, message: readMessage(json) }, json }
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)
      return { response: { request, status: undefined, message: cause }, json: undefined }
    }
  }

  const read = () => call('GET', '/accounts?limit=1')
  async function write() {
    const called = await call('POST', '/auth/sessions', { redirectUri: 'https://app.example/done' })
    const code = findCode(called.json)
    if (code !== undefined) acknowledged.push(code)
    return called
  }

  async function run(): Promise<void> {
    while (!ended.signal.aborted) {
      for (const work of [read, write]) answers.push((await work()).response)
      await sleep(PACE_MS)
    }
  }
  const running = run()

  return {
    take() {
      const taken = answers
      answers = []
      return taken
    },
    async recovered() {
      const startedMs = performance.now()
      await eventually(async () => {
        for (const work of [read, write]) expect((await work()).response).toMatchObject({ status: 200 })
      }, RECOVERED_MS)
      return Math.round(performance.now() - startedMs)
    },
    async expectNothingLost() {
      for (const code of acknowledged) {
        expect((await call('GET', `/auth/sessions/${code}`)).response).toMatchObject({ status: 200 })
      }
      return acknowledged.length
    },
    async stop() {
      ended.abort()
      await running
    },
  }
}

function readMessage(json: unknown): string {
  const error = json !== null && typeof json === 'object' && 'error' in json ? json.error : undefined
  return error !== null && typeof error === 'object' && 'message' in error ? String(error.message) : ''
}

/** Finds the code of the created session. */
function findCode(json: unknown): string | undefined {
  const text = JSON.stringify(json) ?? ''
  return /session=([0-9A-Za-z_-]{20,})/.exec(text)?.[1]
}
