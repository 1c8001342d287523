import { groupBy } from '../../../platform/group-by.ts'
import { NO_TRACE } from '../rows/row.ts'

/**
 * Recognises moved messages, so that a message keeps its id. An incoming message and a row are the same message when
 * their EMAILIDs are equal, else their (Message-ID, INTERNALDATE), of several those with the same size, else their header blocks, else
 * what the sender wrote: see `copies.ts`.
 * Only a free row can match: one without a location, or one that the server no longer has at its location.
 * Each row matches at most one incoming message.
 */

export interface MatchKeys {
  emailIdHash: string | null
  identityHash: string | null
  headerHash: string
  /** How it was delivered; null if unknown. */
  traceHash: string | null
  sizeBytes: number
}

/** `copyKey`: what the sender wrote. Without it, a message matches no row by that, and is no copy by that. */
export type MatchableMessage = MatchKeys & { copyKey?: string | null }

/** A stored row that shares a key with an incoming message. */
export interface Candidate extends MatchKeys {
  copyKey?: string | null
  id: string
  folderId: string | null
  uidValidity: string | null
  uid: number | null
  goneAt: number | null
  apiChange: number | null
}

/** The server's report about candidates with a location, by row id. */
export type Presence = ReadonlyMap<string, 'present' | 'absent'>

export interface Matches {
  /** By index of the incoming message. */
  matched: Map<number, Candidate>
  /**
   * Indexes of incoming messages whose original is in another folder, or has just moved from there. In one folder, the same message twice
   * is not a copy but two messages, unless both were delivered as one.
   */
  copies: Set<number>
  /** Rows with a location that `presence` lacks. Ask the server about them, then match again. */
  undecided: Candidate[]
}

const KEYS = ['emailIdHash', 'identityHash', 'headerHash'] as const

/** Keys that are equal in two copies of one message, the most certain first. */
const LEVELS: readonly ((message: MatchableMessage) => string | null)[] = [
  ({ emailIdHash }) => emailIdHash,
  ({ identityHash, sizeBytes }) => identityHash && `${identityHash} ${sizeBytes}`,
  ({ headerHash }) => headerHash,
  ({ identityHash }) => identityHash,
  ({ copyKey = null }) => copyKey,
]

/** `folderId` is the folder of the incoming messages. */
export function matchMessages(
  incoming: readonly MatchableMessage[],
  candidates: readonly Candidate[],
  folderId: string,
  presence: Presence,
): Matches {
  const knownEmailIds = new Set(candidates.map((row) => row.emailIdHash))
  const matched = new Map<number, Candidate>()
  const used = new Set<string>()
  const free = candidates.filter((row) => row.uid === null || presence.get(row.id) === 'absent')
  const ranked = free.toSorted((a, b) => rank(a, folderId) - rank(b, folderId) || (a.id < b.id ? -1 : 1))
  for (const toKey of LEVELS) {
    const rows = groupBy(ranked, toKey)
    incoming.forEach((message, index) => {
      if (matched.has(index)) return
      const mayMatch = (row: Candidate) => !used.has(row.id) && mayBeSame(row, message, knownEmailIds)
      const row = rows.get(toKey(message) ?? '')?.find(mayMatch)
      if (row === undefined) return
      matched.set(index, row)
      used.add(row.id)
    })
  }
  return { matched, ...classifyUnmatched(incoming, candidates, folderId, presence, matched) }
}

function classifyUnmatched(
  incoming: readonly MatchableMessage[],
  candidates: readonly Candidate[],
  folderId: string,
  presence: Presence,
  matched: ReadonlyMap<number, Candidate>,
): Pick<Matches, 'copies' | 'undecided'> {
  const copies = new Set<number>()
  const undecided = new Map<string, Candidate>()
  const moved = new Set([...matched.values()].map((row) => row.id))
  const originals = candidates.filter((row) => row.uid !== null || moved.has(row.id))
  if (originals.length === 0) return { copies, undecided: [] }
  const knownEmailIds = new Set(originals.map((row) => row.emailIdHash))
  const groups = LEVELS.map((toKey) => [toKey, groupBy(originals, toKey)] as const)
  const isOriginal = (row: Candidate) => moved.has(row.id) || presence.get(row.id) === 'present'
  incoming.forEach((message, index) => {
    if (matched.has(index)) return
    const rows = groups
      .flatMap(([toKey, group]) => group.get(toKey(message) ?? '') ?? [])
      .filter((row) => mayBeSame(row, message, knownEmailIds))
    const isCopyOf = (row: Candidate) =>
      isOriginal(row) && !wasDeliveredApart(row, message) && (row.folderId !== folderId || isSameDelivery(row, message))
    if (rows.some(isCopyOf)) copies.add(index)
    for (const row of rows) if (row.uid !== null && !presence.has(row.id)) undecided.set(row.id, row)
  })
  return { copies, undecided: [...undecided.values()] }
}

/** Prefers rows of this folder that lost their UID to a new UIDVALIDITY, then such rows of others, then missing ones. */
function rank(row: Candidate, folderId: string): number {
  if (row.uid !== null) return 3
  if (row.goneAt !== null) return 2
  return row.folderId === folderId ? 0 : 1
}

/**
 * Different EMAILIDs mean different messages, unless the new one is known of no row: the copy of a program that adds a header line has
 * another. After a new UIDVALIDITY, the server may have new EMAILIDs, too.
 */
function mayBeSame(row: Candidate, message: MatchKeys, knownEmailIds: ReadonlySet<string | null>): boolean {
  if (row.uid === null && row.goneAt === null) return true
  if (wasDeliveredApart(row, message)) return false
  const isDifferent =
    row.emailIdHash !== null && message.emailIdHash !== null && row.emailIdHash !== message.emailIdHash
  return !isDifferent || !knownEmailIds.has(message.emailIdHash)
}

/** True for two messages that were sent once, to two addresses: they arrived by themselves, and neither is a copy of the other. */
export function wasDeliveredApart(one: MatchKeys, other: MatchKeys): boolean {
  if (one.emailIdHash !== null && one.emailIdHash === other.emailIdHash) return false
  return one.traceHash !== null && other.traceHash !== null && one.traceHash !== other.traceHash
}

/** True when servers delivered the two as one message: each delivery adds fields of its own. */
export function isSameDelivery(one: MatchKeys, other: MatchKeys): boolean {
  return one.traceHash !== null && one.traceHash === other.traceHash && one.traceHash !== NO_TRACE
}

/** Whether the message may be the row, by one of the keys. */
export function sharesKey(message: MatchKeys, row: MatchKeys): boolean {
  return KEYS.some((key) => message[key] !== null && message[key] === row[key])
}
