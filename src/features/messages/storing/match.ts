/**
 * Recognises mails that changed their place. A newly seen mail is the same as a stored row when both have the same EMAILID, else the
 * same (Message-ID, INTERNALDATE, size), else the same header block, and the row is free: it vanished, it lost its
 * place to a new numbering, or the server was asked and no longer has it where the row says. Matches are one to one.
 */

/** A stored row that may be a mail seen now. */
export interface Candidate {
  id: string
  folderId: string | null
  uidValidity: string | null
  uid: number | null
  goneAt: number | null
  emailIdHash: string | null
  identityHash: string | null
  headerHash: string
}

export interface Keys {
  emailIdHash: string | null
  identityHash: string | null
  headerHash: string
}

/** What the server said of rows that stand in another folder. */
export type Presence = ReadonlyMap<string, 'present' | 'absent'>

export interface Matches {
  /** By position of the incoming mail. */
  matched: Map<number, Candidate>
  /** Mails whose original stands in another folder, or came from there at the same time: copies. The same mail twice in one folder is two mails. */
  copies: Set<number>
  /** Rows with a place whose presence decides; ask the server, then match again. */
  undecided: Candidate[]
}

const KEYS = ['emailIdHash', 'identityHash', 'headerHash'] as const

export function matchMessages(
  incoming: readonly Keys[],
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
    incoming.forEach((mail, position) => {
      if (matched.has(position)) return
      const row = rows.get(mail[key] ?? '')?.find((found) => !used.has(found.id) && agrees(found, mail))
      if (row === undefined) return
      matched.set(position, row)
      used.add(row.id)
    })
  }
  return { matched, ...standing(incoming, candidates, folderId, presence, matched) }
}

function standing(
  incoming: readonly Keys[],
  candidates: readonly Candidate[],
  folderId: string,
  presence: Presence,
  matched: ReadonlyMap<number, Candidate>,
): Pick<Matches, 'copies' | 'undecided'> {
  const copies = new Set<number>()
  const undecided = new Map<string, Candidate>()
  const moved = new Set([...matched.values()].map((row) => row.id))
  const known = candidates.filter((row) => row.uid !== null || moved.has(row.id))
  if (known.length === 0) return { copies, undecided: [] }
  const groups = KEYS.map((key) => [key, groupBy(known, key)] as const)
  incoming.forEach((mail, position) => {
    if (matched.has(position)) return
    const rows = groups.flatMap(([key, group]) => group.get(mail[key] ?? '') ?? []).filter((row) => agrees(row, mail))
    const isOriginal = (row: Candidate) => moved.has(row.id) || presence.get(row.id) === 'present'
    if (rows.some((row) => row.folderId !== folderId && isOriginal(row))) copies.add(position)
    for (const row of rows) if (row.uid !== null && !presence.has(row.id)) undecided.set(row.id, row)
  })
  return { copies, undecided: [...undecided.values()] }
}

/** Rows that lost their place in this very folder first, then vanished ones, then those that stand nowhere any more. */
function rank(row: Candidate, folderId: string): number {
  if (row.uid !== null) return 3
  if (row.goneAt !== null) return 2
  return row.folderId === folderId ? 0 : 1
}

/** Two EMAILIDs that differ are two mails, unless the server was renumbered: then its ids may be new as well. */
function agrees(row: Candidate, mail: Keys): boolean {
  const differ = row.emailIdHash !== null && mail.emailIdHash !== null && row.emailIdHash !== mail.emailIdHash
  return !differ || (row.uid === null && row.goneAt === null)
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
