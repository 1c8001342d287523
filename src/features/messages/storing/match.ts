/**
 * Recognises moved messages, so that a message keeps its id. An incoming message and a row are the same message when
 * their EMAILIDs are equal, else their (Message-ID, INTERNALDATE, size), else their header blocks.
 * Only a free row can match: one without a location, or one that the server no longer has at its location.
 * Each row matches at most one incoming message.
 */

export interface MatchKeys {
  emailIdHash: string | null
  identityHash: string | null
  headerHash: string
}

/** A stored row that shares a key with an incoming message. */
export interface Candidate extends MatchKeys {
  id: string
  folderId: string | null
  uidValidity: string | null
  uid: number | null
  goneAt: number | null
  apiChange: number | null
}

/** What the server reported about candidates with a location, by row id. */
export type Presence = ReadonlyMap<string, 'present' | 'absent'>

export interface Matches {
  /** By index of the incoming message. */
  matched: Map<number, Candidate>
  /**
   * Indexes of incoming messages whose original is in another folder, or has just moved from there.
   * The same message twice in one folder is not a copy but two messages.
   */
  copies: Set<number>
  /** Rows with a location that `presence` lacks. Ask the server about them, then match again. */
  undecided: Candidate[]
}

const KEYS = ['emailIdHash', 'identityHash', 'headerHash'] as const

/** `folderId` is the folder of the incoming messages. */
export function matchMessages(
  incoming: readonly MatchKeys[],
  candidates: readonly Candidate[],
  folderId: string,
  presence: Presence,
): Matches {
  const matched = new Map<number, Candidate>()
  const used = new Set<string>()
  const free = candidates.filter((row) => row.uid === null || presence.get(row.id) === 'absent')
  const ranked = free.toSorted((a, b) => rank(a, folderId) - rank(b, folderId) || (a.id < b.id ? -1 : 1))
  for (const key of KEYS) {
    const rows = groupBy(ranked, key)
    incoming.forEach((message, index) => {
      if (matched.has(index)) return
      const row = rows.get(message[key] ?? '')?.find((one) => !used.has(one.id) && mayBeSame(one, message))
      if (row === undefined) return
      matched.set(index, row)
      used.add(row.id)
    })
  }
  return { matched, ...classifyUnmatched(incoming, candidates, folderId, presence, matched) }
}

function classifyUnmatched(
  incoming: readonly MatchKeys[],
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
  const groups = KEYS.map((key) => [key, groupBy(originals, key)] as const)
  const isOriginal = (row: Candidate) => moved.has(row.id) || presence.get(row.id) === 'present'
  incoming.forEach((message, index) => {
    if (matched.has(index)) return
    const rows = groups
      .flatMap(([key, group]) => group.get(message[key] ?? '') ?? [])
      .filter((row) => mayBeSame(row, message))
    if (rows.some((row) => row.folderId !== folderId && isOriginal(row))) copies.add(index)
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

/** Different EMAILIDs mean different messages, except after a new UIDVALIDITY: the server may have new EMAILIDs too. */
function mayBeSame(row: Candidate, message: MatchKeys): boolean {
  const isDifferent =
    row.emailIdHash !== null && message.emailIdHash !== null && row.emailIdHash !== message.emailIdHash
  return !isDifferent || (row.uid === null && row.goneAt === null)
}

/** Whether the message may be the row, by one of the keys. */
export function sharesKey(message: MatchKeys, row: MatchKeys): boolean {
  return KEYS.some((key) => message[key] !== null && message[key] === row[key])
}

function groupBy(rows: readonly Candidate[], key: (typeof KEYS)[number]): Map<string, Candidate[]> {
  const groups = new Map<string, Candidate[]>()
  for (const row of rows) {
    const value = row[key]
    if (value === null) continue
    const group = groups.get(value)
    if (group === undefined) groups.set(value, [row])
    else group.push(row)
  }
  return groups
}
