import { describe, expect, it } from 'vitest'
import { random } from '../../../../../test/kit/random/random.ts'
import { groupBy } from '../../../../platform/group-by.ts'
import { NO_TRACE } from '../../rows/row.ts'
import type { MessageRow } from '../../store.ts'
import { type ComparableRow, FreeCopies } from './free-copies.ts'
import {
  type Candidate,
  type MatchableMessage,
  type MatchKeys,
  matchMessages,
  type Presence,
  sharesDeliveryWith,
} from './match.ts'

const HOUR_MS = 3_600_000
const ROUNDS = 2000
const [MESSAGES, ROWS] = [500, 5000]
/** How often members of them may be read for a few steps with each. Comparing each with each takes ten times as many. */
const MAX_READS = 200 * (MESSAGES + ROWS)

describe('of messages and rows with the same keys', () => {
  it('those match that match when each is compared with each', () => {
    const choose = chooser()
    for (let round = 0; round < ROUNDS; round += 1) {
      const messages = choose.many(() => randomMessage(choose))
      const rows = choose.many((n) => randomRow(choose, `row ${n}`))
      const located = rows.filter(({ uid }) => uid !== null)
      const presence = new Map(
        located.flatMap(({ id }) => {
          const is = choose.one(['present', 'absent', undefined] as const)
          return is === undefined ? [] : [[id, is] as const]
        }),
      )
      const found = matchMessages(messages, rows, 'inbox', presence)
      const expected = matchOneByOne(messages, rows, 'inbox', presence)
      expect(found.matched).toEqual(expected.matched)
      expect([...found.copies].sort()).toEqual([...expected.copies].sort())
      expect(new Set(found.undecided)).toEqual(expected.undecided)
      expect(messages.map(sharesDeliveryWith(rows))).toEqual(
        messages.map((message) => rows.some((row) => hasSameKey(message, row) && !wasDeliveredApart(message, row))),
      )
    }
  })

  it('those are copies that are when each is compared with each', () => {
    const choose = chooser()
    for (let round = 0; round < ROUNDS; round += 1) {
      const copies = choose.many((n) => randomComparable(choose, `copy ${n}`))
      const originals = choose.many((n) => randomComparable(choose, `original ${n}`))
      const free = new FreeCopies(copies)
      const taken = new Set<MessageRow>()
      for (const original of originals) {
        const possible = copies.filter((copy) => !taken.has(copy.row) && isCopyOf(copy, original)).map(({ row }) => row)
        const copy = free.take(original)
        if (copy !== undefined) expect(possible).toContain(copy)
        expect(copy?.createdAt).toBe(possible.map(({ createdAt }) => createdAt).sort((a, b) => a - b)[0])
        if (copy !== undefined) taken.add(copy)
      }
    }
  })

  it.each([
    ['were delivered apart', (n: number) => ({ traceHash: `trace ${n}` })],
    ['have different EMAILIDs', (n: number) => ({ emailIdHash: `email ${n}` })],
    ['are the same', () => ({})],
  ])('few steps match a message, also when all %s', (_case, keys) => {
    for (const location of [{ uid: null }, { uid: 7, goneAt: null }]) {
      const reads = { count: 0 }
      const rows = Array.from({ length: ROWS }, (_, n) =>
        counted({ ...row(`row ${n}`), ...keys(n), ...location }, reads),
      )
      const messages = Array.from({ length: MESSAGES }, (_, n) => counted({ ...MESSAGE, ...keys(-n) }, reads))
      matchMessages(messages, rows, 'work', new Map())
      messages.map(sharesDeliveryWith(rows))
      expect(reads.count).toBeLessThan(MAX_READS)
    }
  })

  it.each([
    ['are in its folder', 'inbox', 0],
    ['appeared before it', 'work', 10 * HOUR_MS],
    ['are in another folder', 'work', 0],
  ])('few steps find a copy of a message, also when all %s', (_case, folderId, createdAt) => {
    const reads = { count: 0 }
    const build = (id: string, changes: Partial<MessageRow>) => {
      const row = { ...MESSAGE, id, folderId: 'inbox', createdAt: 0, goneAt: HOUR_MS, ...changes }
      return { row: counted(row, reads) as MessageRow, identity: 'i', copyKey: 'c' }
    }
    const copies = new FreeCopies(Array.from({ length: ROWS }, (_, n) => build(`copy ${n}`, { folderId })))
    for (let n = 0; n < MESSAGES; n += 1) copies.take(build(`original ${n}`, { createdAt }))
    expect(reads.count).toBeLessThan(MAX_READS)
  })
})

const MESSAGE: MatchableMessage = {
  emailIdHash: null,
  identityHash: 'i',
  headerHash: 'h',
  traceHash: NO_TRACE,
  sizeBytes: 1,
  copyKey: 'c',
}

function row(id: string): Candidate {
  return { ...MESSAGE, id, folderId: 'inbox', uidValidity: '1', uid: null, goneAt: 5, apiChange: null }
}

/** The same object, which counts how often it is read. */
function counted<T extends object>(object: T, reads: { count: number }): T {
  return new Proxy(object, {
    get(target, name, receiver) {
      reads.count += 1
      return Reflect.get(target, name, receiver)
    },
  })
}

function chooser() {
  const next = random()
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    one: <T>(values: readonly T[]): T => values[below(values.length)] as T,
    many: <T>(build: (n: number) => T): T[] => Array.from({ length: below(7) }, (_, n) => build(n)),
  }
}

type Chooser = ReturnType<typeof chooser>

function randomMessage({ one }: Chooser): MatchableMessage {
  return {
    emailIdHash: one([null, 'e1', 'e2']),
    identityHash: one([null, 'i1', 'i2']),
    headerHash: one(['h1', 'h2', 'h3']),
    traceHash: one([null, 't1', 't2', NO_TRACE]),
    sizeBytes: one([1, 2]),
    copyKey: one([null, 'c1', 'c2']),
  }
}

function randomRow(choose: Chooser, id: string): Candidate {
  const [uid, goneAt] = choose.one([
    [null, null],
    [null, 5],
    [7, null],
  ] as const)
  const folderId = choose.one(['inbox', 'work'])
  return { ...randomMessage(choose), id, folderId, uidValidity: '1', uid, goneAt, apiChange: null }
}

function randomComparable(choose: Chooser, id: string): ComparableRow {
  const { copyKey = null, identityHash, ...keys } = randomMessage(choose)
  const createdAt = choose.one([0, 1, 2, HOUR_MS, 2 * HOUR_MS])
  const goneAt = choose.one([HOUR_MS, HOUR_MS + 1, 2 * HOUR_MS])
  const folderId = choose.one(['inbox', 'work', 'archive'])
  return { row: { ...keys, id, folderId, createdAt, goneAt } as MessageRow, identity: identityHash, copyKey }
}

const KEYS = ['emailIdHash', 'identityHash', 'headerHash'] as const

function hasSameKey(one: MatchKeys, other: MatchKeys): boolean {
  return KEYS.some((key) => one[key] !== null && one[key] === other[key])
}

const LEVELS: readonly ((message: MatchableMessage) => string | null)[] = [
  ({ emailIdHash }) => emailIdHash,
  ({ identityHash, sizeBytes }) => identityHash && `${identityHash} ${sizeBytes}`,
  ({ headerHash }) => headerHash,
  ({ identityHash }) => identityHash,
  ({ copyKey = null }) => copyKey,
]

/** As `matchMessages`, comparing each message with each row. */
function matchOneByOne(
  messages: readonly MatchableMessage[],
  rows: readonly Candidate[],
  folderId: string,
  presence: Presence,
) {
  const rank = (row: Candidate) => {
    if (row.uid !== null) return 3
    if (row.goneAt !== null) return 2
    return row.folderId === folderId ? 0 : 1
  }
  const free = rows.filter((row) => row.uid === null || presence.get(row.id) === 'absent')
  const ranked = free.toSorted((a, b) => rank(a) - rank(b) || (a.id < b.id ? -1 : 1))
  const known = new Set(rows.map((row) => row.emailIdHash))
  const matched = new Map<number, Candidate>()
  const used = new Set<Candidate>()
  for (const toKey of LEVELS) {
    const groups = groupBy(ranked, toKey)
    messages.forEach((message, index) => {
      if (matched.has(index)) return
      const found = groups.get(toKey(message) ?? '')?.find((row) => !used.has(row) && mayBeSame(row, message, known))
      if (found === undefined) return
      matched.set(index, found)
      used.add(found)
    })
  }
  const originals = rows.filter((row) => row.uid !== null || used.has(row))
  const knownOriginals = new Set(originals.map((row) => row.emailIdHash))
  const copies = new Set<number>()
  const undecided = new Set<Candidate>()
  for (const [index, message] of messages.entries()) {
    if (matched.has(index)) continue
    const same = originals.filter((row) => {
      const hasKey = LEVELS.some((toKey) => toKey(message) !== null && toKey(message) === toKey(row))
      return hasKey && mayBeSame(row, message, knownOriginals)
    })
    for (const row of same) {
      if (row.uid !== null && !presence.has(row.id)) undecided.add(row)
      const isOriginal = used.has(row) || presence.get(row.id) === 'present'
      const isElsewhere = row.folderId !== folderId || isSameDelivery(row, message)
      if (isOriginal && !wasDeliveredApart(row, message) && isElsewhere) copies.add(index)
    }
  }
  return { matched, copies, undecided }
}

function mayBeSame(row: Candidate, message: MatchKeys, known: ReadonlySet<string | null>): boolean {
  if (row.uid === null && row.goneAt === null) return true
  if (wasDeliveredApart(row, message)) return false
  const isDifferent =
    row.emailIdHash !== null && message.emailIdHash !== null && row.emailIdHash !== message.emailIdHash
  return !isDifferent || !known.has(message.emailIdHash)
}

function isCopyOf(copy: ComparableRow, original: ComparableRow): boolean {
  const { row } = original
  if (copy.row.createdAt < row.createdAt || copy.row.createdAt <= (row.goneAt ?? 0) - HOUR_MS) return false
  if (copy.row.folderId === row.folderId && !isSameDelivery(copy.row, row)) return false
  if (row.emailIdHash !== null && row.emailIdHash === copy.row.emailIdHash) return true
  if (wasDeliveredApart(copy.row, row)) return false
  if (row.headerHash === copy.row.headerHash) return true
  if (original.identity !== null && original.identity === copy.identity) return true
  return original.copyKey !== null && original.copyKey === copy.copyKey
}

function wasDeliveredApart(one: MatchKeys, other: MatchKeys): boolean {
  if (one.emailIdHash !== null && one.emailIdHash === other.emailIdHash) return false
  return one.traceHash !== null && other.traceHash !== null && one.traceHash !== other.traceHash
}

function isSameDelivery(one: MatchKeys, other: MatchKeys): boolean {
  return one.traceHash !== null && one.traceHash === other.traceHash && one.traceHash !== NO_TRACE
}
