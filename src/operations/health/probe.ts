import { totalmem } from 'node:os'
import { withTimeout } from '../../platform/concurrency/abort.ts'
import { DatabaseUnavailable } from '../../platform/db/index.ts'
import type { Clock } from '../../platform/time/clock.ts'

/** The result of one probe. */
export interface ProbeResult {
  healthy: boolean
  latencyMs: number
  /** Shown only with a key; contains no secret. Undefined when healthy. */
  problem?: string
  /** Advice for the operator about this very problem, where the part has any. */
  remedy?: string
}

const PROBE_MS = 2000

/** Pings one part of the service, for at most 2 s. Never rejects. */
export async function probe(clock: Clock, ping: () => Promise<void>): Promise<ProbeResult> {
  const startedMs = clock.monotonic()
  const took = () => Math.round((clock.monotonic() - startedMs) * 10) / 10
  try {
    await withTimeout(ping(), PROBE_MS, () => new Error(`no response within ${PROBE_MS} ms`))
    return { healthy: true, latencyMs: took() }
  } catch (error) {
    return { healthy: false, latencyMs: took(), ...toFailure(error) }
  }
}

export function toFailure(error: unknown): Pick<ProbeResult, 'problem' | 'remedy'> {
  const problem = describeProblem(error)
  return error instanceof DatabaseUnavailable ? { problem, remedy: error.remedy } : { problem }
}

/** The code of a system error, otherwise a fixed text: the message of a driver may contain the connection URL. */
export function describeProblem(error: unknown): string {
  if (error instanceof DatabaseUnavailable) return describeProblem(error.cause)
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return error instanceof Error && error.message.startsWith('no response within') ? error.message : 'failed'
}

export interface Memory {
  /** Relative to the container's limit, otherwise to the machine's memory. */
  percentage: number
  rssBytes: number
  heapUsedBytes: number
  limitBytes: number
}

export function memory(): Memory {
  const { rss, heapUsed } = process.memoryUsage()
  const limitBytes = memoryLimit()
  return {
    percentage: Math.round((rss / limitBytes) * 1000) / 10,
    rssBytes: rss,
    heapUsedBytes: heapUsed,
    limitBytes,
  }
}

/** Without a limit the kernel reports 0 or more than the machine's memory. */
function memoryLimit(): number {
  const limit = process.constrainedMemory()
  return limit > 0 && limit < totalmem() ? limit : totalmem()
}
