import { groupBy } from '../../../../platform/group-by.ts'
import { collectNamesWantedByCopy, collectOriginalNames, collectWantedNames, RowQueues } from './row-names.ts'

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
    const rowsByKey = buildGroups(ranked, toKey, (rows) => new RowQueues(rows))
    incoming.forEach((message, index) => {
      if (matched.has(index)) return
      const row = rowsByKey(toKey(message))?.findFirst(collectWantedNames(message, knownEmailIds), used)
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
  const isOriginal = (row: Candidate) => moved.has(row.id) || presence.get(row.id) === 'present'
  const collectNames = (rows: readonly Candidate[]) =>
    new Set(rows.flatMap((row) => collectOriginalNames(row, folderId)))
  const mayBePresent = originals.filter((row) => row.uid !== null && !presence.has(row.id))
  for (const toKey of LEVELS) {
    const namesByKey = buildGroups(originals.filter(isOriginal), toKey, collectNames)
    const undecidedByKey = buildGroups(mayBePresent, toKey, (rows) => new RowQueues(rows))
    incoming.forEach((message, index) => {
      if (matched.has(index)) return
      const names = namesByKey(toKey(message))
      if (collectNamesWantedByCopy(message, knownEmailIds).some((name) => names?.has(name))) copies.add(index)
      const rows = undecidedByKey(toKey(message))?.takeAll(collectWantedNames(message, knownEmailIds)) ?? []
      for (const row of rows) undecided.set(row.id, row)
    })
  }
  return { copies, undecided: [...undecided.values()] }
}

/** Prefers rows of this folder that lost their UID to a new UIDVALIDITY, then such rows of others, then missing ones. */
function rank(row: Candidate, folderId: string): number {
  if (row.uid !== null) return 3
  if (row.goneAt !== null) return 2
  return row.folderId === folderId ? 0 : 1
}

/** Groups rows by key. What `build` makes of a group is built when it is first asked for. */
function buildGroups<Built>(
  rows: readonly Candidate[],
  toKey: (row: Candidate) => string | null,
  build: (rows: readonly Candidate[]) => Built,
): (key: string | null) => Built | undefined {
  const groups = groupBy(rows, toKey)
  const built = new Map<string, Built>()
  return (key) => {
    const group = key === null ? undefined : groups.get(key)
    if (key === null || group === undefined) return undefined
    const found = built.get(key) ?? build(group)
    built.set(key, found)
    return found
  }
}

/** Finds out whether a message shares a key with one of the rows. */
export function sharesKeyWith(rows: readonly MatchKeys[]): (message: MatchKeys) => boolean {
  const keys = new Set(rows.flatMap(collectKeys))
  return (message) => collectKeys(message).some((key) => keys.has(key))
}

/** The same for rows that were not delivered apart from the message: those with its EMAILID, or without another trace. */
export function sharesDeliveryWith(rows: readonly MatchKeys[]): (message: MatchKeys) => boolean {
  const known = new Set(rows.flatMap((row) => collectKeys(row).flatMap((key) => [key, `${key} ${row.traceHash}`])))
  return (message) => {
    const { emailIdHash, traceHash } = message
    if (emailIdHash !== null && known.has(keyText('emailIdHash', emailIdHash))) return true
    const traces = traceHash === null ? [''] : [' null', ` ${traceHash}`]
    return collectKeys(message).some((key) => traces.some((trace) => known.has(key + trace)))
  }
}

function collectKeys(message: MatchKeys): string[] {
  return KEYS.flatMap((name) => (message[name] === null ? [] : keyText(name, message[name])))
}

function keyText(name: (typeof KEYS)[number], value: string): string {
  return `${name} ${value}`
}
