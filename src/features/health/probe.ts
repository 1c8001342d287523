import { DatabaseUnavailable } from '../../infra/db/index.ts'
import { withTimeout } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'

/** What one part answered when it was asked. */
export interface Probed {
  healthy: boolean
  latencyMs: number
  /** For operators with a key; never holds a secret. Undefined when healthy. */
  problem?: string
}

const PROBE_MS = 2000

/** Asks one part; an answer that takes longer than 2 s is none. Never rejects. */
export async function probe(clock: Clock, ping: () => Promise<void>): Promise<Probed> {
  const startedMs = clock.monotonic()
  const took = () => Math.round((clock.monotonic() - startedMs) * 10) / 10
  try {
    await withTimeout(ping(), PROBE_MS, () => new Error(`no answer within ${PROBE_MS} ms`))
    return { healthy: true, latencyMs: took() }
  } catch (error) {
    return { healthy: false, latencyMs: took(), problem: problemOf(error) }
  }
}

/** The code of a system error, else our own words: a driver's message may hold the connection URL. */
export function problemOf(error: unknown): string {
  if (error instanceof DatabaseUnavailable) return problemOf(error.cause)
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return error instanceof Error && error.message.startsWith('no answer within') ? error.message : 'failed'
}

/** Answers the same promise for `ms`, so that a public route cannot be used to keep the parts busy. */
export function remembered<T>(clock: Clock, ms: number, ask: () => Promise<T>): () => Promise<T> {
  let last: { askedMs: number; answer: Promise<T> } | undefined
  return () => {
    const nowMs = clock.monotonic()
    if (last === undefined || nowMs - last.askedMs >= ms) last = { askedMs: nowMs, answer: ask() }
    return last.answer
  }
}
