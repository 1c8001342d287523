import { NO_TRACE } from '../../rows/row.ts'
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
function namesOfRow(row: Candidate): Name[] {
  if (isLost(row)) return ['lost']
  return [...emailName(row), ...poolsOf(row).flatMap((pool) => [pool, `${pool} ${row.traceHash ?? UNKNOWN_TRACE}`])]
}

/** `knownEmailIds`: those of the rows. */
export function namesAskedFor(message: Delivery, knownEmailIds: ReadonlySet<string | null>): Name[] {
  return ['lost', ...namesOfDelivery(message, knownEmailIds)]
}

/**
 * A message in the folder is a copy of the row exactly when it asks for one of these. In one folder, only a message that servers delivered
 * as one with the row is a copy: each delivery adds fields of its own.
 */
export function namesOfOriginal(row: Candidate, folderId: string): Name[] {
  const { traceHash } = row
  const pools = isLost(row) ? ['any', 'plain'] : poolsOf(row)
  if (row.folderId !== folderId) {
    return [...emailName(row), ...pools.flatMap((pool) => [pool, `${pool} ${traceHash ?? UNKNOWN_TRACE}`])]
  }
  if (traceHash === null || traceHash === NO_TRACE) return []
  return [...emailName(row), ...pools].map((name) => `${name} here ${traceHash}`)
}

export function namesAskedForByCopy(message: Delivery, knownEmailIds: ReadonlySet<string | null>): Name[] {
  const { traceHash } = message
  const names = namesOfDelivery(message, knownEmailIds)
  const here = traceHash === null ? [] : [...emailName(message), poolFor(message, knownEmailIds)]
  return [...names, ...here.map((name) => `${name} here ${traceHash}`)]
}

function namesOfDelivery(message: Delivery, knownEmailIds: ReadonlySet<string | null>): Name[] {
  const pool = poolFor(message, knownEmailIds)
  const { traceHash } = message
  return [
    ...emailName(message),
    ...(traceHash === null ? [pool] : [`${pool} ${UNKNOWN_TRACE}`, `${pool} ${traceHash}`]),
  ]
}

function emailName({ emailIdHash }: Delivery): Name[] {
  return emailIdHash === null ? [] : [`email ${emailIdHash}`]
}

function poolsOf({ emailIdHash }: Delivery): Name[] {
  return emailIdHash === null ? ['any', 'plain'] : ['any']
}

function poolFor({ emailIdHash }: Delivery, knownEmailIds: ReadonlySet<string | null>): Name {
  return emailIdHash !== null && knownEmailIds.has(emailIdHash) ? 'plain' : 'any'
}

function isLost({ uid, goneAt }: Candidate): boolean {
  return uid === null && goneAt === null
}

interface Queue {
  /** Ascending positions of rows. */
  positions: number[]
  /** The rows before it are taken. */
  next: number
}

/** Rows in order, by name. Each row is visited once per name, however many messages ask. */
export class RowQueues {
  readonly #rows: readonly Candidate[]
  readonly #queues = new Map<Name, Queue>()

  constructor(rows: readonly Candidate[]) {
    this.#rows = rows
    for (const [position, row] of rows.entries()) {
      for (const name of namesOfRow(row)) {
        const queue = this.#queues.get(name)
        if (queue === undefined) this.#queues.set(name, { positions: [position], next: 0 })
        else queue.positions.push(position)
      }
    }
  }

  /** The first row with one of the names whose id is not taken. A taken id stays taken. */
  findFirst(names: readonly Name[], taken: ReadonlySet<string>): Candidate | undefined {
    let first: number | undefined
    for (const name of names) {
      const position = this.#firstOf(this.#queues.get(name), taken)
      if (position !== undefined && (first === undefined || position < first)) first = position
    }
    return first === undefined ? undefined : this.#rows[first]
  }

  /** Removes all rows with one of the names, and returns them, some of them twice. */
  takeAll(names: readonly Name[]): Candidate[] {
    return names.flatMap((name) => {
      const queue = this.#queues.get(name)
      if (queue === undefined) return []
      this.#queues.delete(name)
      return queue.positions.flatMap((position) => this.#rows[position] ?? [])
    })
  }

  #firstOf(queue: Queue | undefined, taken: ReadonlySet<string>): number | undefined {
    if (queue === undefined) return undefined
    for (; queue.next < queue.positions.length; queue.next += 1) {
      const position = queue.positions[queue.next]
      if (!taken.has(this.#rows[position ?? -1]?.id ?? '')) return position
    }
    return undefined
  }
}
