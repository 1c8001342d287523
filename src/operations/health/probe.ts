import { getHeapStatistics } from 'node:v8'
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
  /** The used share of the limit. */
  percentage: number
  /** The container's limit, or that of V8's heap, whichever the process reaches first. */
  limit: 'container' | 'heap'
  limitBytes: number
  rssBytes: number
  heapUsedBytes: number
}

/** Bytes that end the process when they are exceeded. */
interface MemoryLimits {
  /** Without a limit the kernel reports 0 or more than any machine has. */
  containerBytes: number
  heapBytes: number
}

export function memory(limits: MemoryLimits = processLimits()): Memory {
  const { rss, heapUsed } = process.memoryUsage()
  const { containerBytes, heapBytes } = limits
  const isLimited = containerBytes > 0 && containerBytes < UNLIMITED_BYTES
  const ofContainer = isLimited ? rss / containerBytes : 0
  const ofHeap = heapUsed / heapBytes
  const isContainer = ofContainer > ofHeap
  return {
    percentage: Math.round(Math.max(ofContainer, ofHeap) * 1000) / 10,
    limit: isContainer ? 'container' : 'heap',
    limitBytes: isContainer ? containerBytes : heapBytes,
    rssBytes: rss,
    heapUsedBytes: heapUsed,
  }
}

/** 1 PB. */
const UNLIMITED_BYTES = 1e15

function processLimits(): MemoryLimits {
  return { containerBytes: process.constrainedMemory(), heapBytes: getHeapStatistics().heap_size_limit }
}
