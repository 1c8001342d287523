import { addToGroup } from '../../../../platform/group-by.ts'
import { NO_TRACE } from '../../rows/row.ts'
import { FreeRows } from './free-rows.ts'
import type { Candidate, MatchKeys } from './match.ts'

/**
 * Names by which a message finds the rows that it may be, among those with the same key. Thousands of messages may have one Message-ID, and
 * comparing each with each row would take seconds. A row has some names, and a message asks for some:
 *
 *   email E           the row has the EMAILID of the message
 *   any               every row
 *   plain             rows without an EMAILID, for a message whose own is that of another row
 *   any T, plain T    the same, delivered with the trace T; `unknown` for rows that do not know it
 *   lost              the row lost its UID to a new UIDVALIDITY, with which the server may have new EMAILIDs
 *
 * A message whose EMAILID is known of no row asks for any: the copy of a program that adds a header line has another one. Two messages with
 * different traces were sent once, to two addresses: they arrived by themselves, and neither is a copy of the other.
 */
type Name = string

type Delivery = Pick<MatchKeys, 'emailIdHash' | 'traceHash'>

const UNKNOWN_TRACE = 'unknown'

/** A message may be the row exactly when it asks for one of these. */
function collectRowNames(row: Candidate): Name[] {
  if (isLost(row)) return ['lost']
  return [
    ...collectEmailNames(row),
    ...collectPools(row).flatMap((pool) => [pool, `${pool} ${row.traceHash ?? UNKNOWN_TRACE}`]),
  ]
}

/** `knownEmailIds`: those of the rows. */
export function collectWantedNames(message: Delivery, knownEmailIds: ReadonlySet<string | null>): Name[] {
  return ['lost', ...collectDeliveryNames(message, knownEmailIds)]
}

/**
 * A message in the folder is a copy of the row exactly when it asks for one of these. In one folder, only a message that servers delivered
 * as one with the row is a copy: each delivery adds fields of its own.
 */
export function collectOriginalNames(row: Candidate, folderId: string): Name[] {
  const { traceHash } = row
  const pools = isLost(row) ? ['any', 'plain'] : collectPools(row)
  if (row.folderId !== folderId) {
    return [...collectEmailNames(row), ...pools.flatMap((pool) => [pool, `${pool} ${traceHash ?? UNKNOWN_TRACE}`])]
  }
  if (traceHash === null || traceHash === NO_TRACE) return []
  return [...collectEmailNames(row), ...pools].map((name) => `${name} here ${traceHash}`)
}

export function collectNamesWantedByCopy(message: Delivery, knownEmailIds: ReadonlySet<string | null>): Name[] {
  const { traceHash } = message
  const names = collectDeliveryNames(message, knownEmailIds)
  const here = traceHash === null ? [] : [...collectEmailNames(message), choosePool(message, knownEmailIds)]
  return [...names, ...here.map((name) => `${name} here ${traceHash}`)]
}

function collectDeliveryNames(message: Delivery, knownEmailIds: ReadonlySet<string | null>): Name[] {
  const pool = choosePool(message, knownEmailIds)
  const { traceHash } = message
  return [
    ...collectEmailNames(message),
    ...(traceHash === null ? [pool] : [`${pool} ${UNKNOWN_TRACE}`, `${pool} ${traceHash}`]),
  ]
}

function collectEmailNames({ emailIdHash }: Delivery): Name[] {
  return emailIdHash === null ? [] : [`email ${emailIdHash}`]
}

function collectPools({ emailIdHash }: Delivery): Name[] {
  return emailIdHash === null ? ['any', 'plain'] : ['any']
}

function choosePool({ emailIdHash }: Delivery, knownEmailIds: ReadonlySet<string | null>): Name {
  return emailIdHash !== null && knownEmailIds.has(emailIdHash) ? 'plain' : 'any'
}

function isLost({ uid, goneAt }: Candidate): boolean {
  return uid === null && goneAt === null
}

/** A row by its position among the rows. */
interface Positioned {
  id: string
  position: number
}

/** Rows in order, by name. Each row is visited once per name, however many messages ask. */
export class RowQueues {
  readonly #rows: readonly Candidate[]
  readonly #queues: Map<Name, FreeRows<Positioned>>

  constructor(rows: readonly Candidate[]) {
    this.#rows = rows
    const groups = new Map<Name, Positioned[]>()
    for (const [position, row] of rows.entries()) {
      for (const name of collectRowNames(row)) addToGroup(groups, name, { id: row.id, position })
    }
    this.#queues = new Map([...groups].map(([name, group]) => [name, new FreeRows(group)]))
  }

  /** The first row with one of the names whose id is not taken. A taken id stays taken. */
  findFirst(names: readonly Name[], taken: ReadonlySet<string>): Candidate | undefined {
    const free = names.flatMap((name) => this.#queues.get(name)?.findFirst(taken) ?? [])
    return this.#rows[Math.min(...free.map(({ position }) => position))]
  }

  /** Removes all rows with one of the names, and returns them, some of them twice. */
  takeAll(names: readonly Name[]): Candidate[] {
    return names.flatMap((name) => {
      const queue = this.#queues.get(name)
      this.#queues.delete(name)
      return queue?.rows.flatMap(({ position }) => this.#rows[position] ?? []) ?? []
    })
  }
}
