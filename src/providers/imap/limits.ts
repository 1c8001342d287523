import type { WorkLimits } from './connection/work-limits.ts'
import { FLOOD_LIMIT, type FloodLimit } from './sync/flood.ts'

/** Every interval and limit of the provider; tests make them small. */
export interface ImapLimits {
  verifyMs: number
  connectMs: number
  /** A connection is closed when the server sends nothing for this long while a command waits. */
  silenceMs: number
  /** How long one piece of work may take: a list of the folders, a step of a sync, a search. Also bounds its lines and bytes. */
  workMs: number
  workLines: number
  workBytes: number
  /** How long a live read may take, waiting included. A stream has as long for each chunk. */
  readMs: number
  /** A sync connection without a command for this long is checked with NOOP. Longer than the interval of polls, which check it too. */
  checkIntervalMs: number
  /** How long the server may take to answer that NOOP, and to end an IDLE. The connection is closed after that. */
  checkTimeoutMs: number
  /** How often the watched folder of a server without IDLE is polled. */
  pollIntervalMs: number
  /** The request connection closes after this long without work. */
  requestIdleMs: number
  /** How long a request waits for its turn and for the connection. */
  requestWaitMs: number
  /** Messages in one step of `syncFolder`. */
  stepMessages: number
  /** How much the server may send on the sync connection unasked. */
  flood: FloodLimit
}

const MB = 1024 * 1024
/** Bytes that the server may send for a sign-in, and for a live read. Pages of lists have 45 MB at most. */
const VERIFY_BYTES = 16 * MB
const READ_BYTES = 64 * MB
const VERIFY_LINES = 50_000
const READ_LINES = 50_000

export const IMAP_LIMITS: ImapLimits = {
  verifyMs: 10_000,
  connectMs: 30_000,
  silenceMs: 30_000,
  workMs: 5 * 60_000,
  // Flags of a million messages may change at once.
  workLines: 1_200_000,
  workBytes: 256 * MB,
  readMs: 30_000,
  checkIntervalMs: 75_000,
  checkTimeoutMs: 12_000,
  pollIntervalMs: 30_000,
  requestIdleMs: 30_000,
  requestWaitMs: 10_000,
  stepMessages: 500,
  flood: FLOOD_LIMIT,
}

/** The limits of work in general, of a sign-in, and of a live read. */
export function workLimits({ silenceMs, workMs, workLines, workBytes }: ImapLimits): Record<WorkKind, WorkLimits> {
  const work: WorkLimits = { silenceMs, workMs, lines: workLines, bytes: workBytes }
  return {
    work,
    verifyWork: { ...work, lines: Math.min(VERIFY_LINES, workLines), bytes: Math.min(VERIFY_BYTES, workBytes) },
    readWork: { ...work, lines: Math.min(READ_LINES, workLines), bytes: Math.min(READ_BYTES, workBytes) },
  }
}

type WorkKind = 'work' | 'verifyWork' | 'readWork'
