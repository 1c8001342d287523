import { groupBy } from '../../../../platform/group-by.ts'
import { NO_TRACE } from '../../rows/row.ts'
import type { MessageRow } from '../../store.ts'
import { FreeRows } from './free-rows.ts'

/** Later, a deleted original no longer means a move. A program that was interrupted goes on when it next runs. */
const MOVE_MS = 60 * 60_000

/** A row and what copies of it have in common with it. */
export interface ComparableRow {
  row: MessageRow
  identity: string | null
  /** Null for a draft: the message that was sent of it has the same. */
  copyKey: string | null
}

/**
 * Messages that may be copies of others, each taken at most once. Thousands of messages may have one Message-ID, and comparing each with each
 * original would take seconds. They are found by what they have in common, by folder, and by when they appeared.
 */
export class FreeCopies {
  /** By name and folder, in the order in which the messages appeared. */
  readonly #lists: ReadonlyMap<string, ReadonlyMap<string | null, FreeRows<MessageRow>>>
  readonly #taken = new Set<string>()

  constructor(copies: readonly ComparableRow[]) {
    const named = copies
      .toSorted((one, other) => one.row.createdAt - other.row.createdAt)
      .flatMap((copy) => collectNames(copy).map((name) => ({ name, row: copy.row })))
    const groups = [...groupBy(named, ({ name }) => name)]
    this.#lists = new Map(groups.map(([name, group]) => [name, groupByFolder(group.map(({ row }) => row))]))
  }

  /** Takes the first copy that appeared since the original was stored, and at most an hour before the original went missing. */
  take(original: ComparableRow): MessageRow | undefined {
    const { createdAt, goneAt } = original.row
    const sinceMs = Math.max(createdAt, (goneAt ?? 0) - MOVE_MS + 1)
    const copies = this.#findLists(original).flatMap(
      (list) => list.findFirst(this.#taken, findPosition(list.rows, sinceMs)) ?? [],
    )
    const first = copies.reduce<MessageRow | undefined>(
      (earliest, copy) => (earliest === undefined || copy.createdAt < earliest.createdAt ? copy : earliest),
      undefined,
    )
    if (first !== undefined) this.#taken.add(first.id)
    return first
  }

  /** In the folder of the original, a copy is one that was delivered with it. Elsewhere, it is one that was not delivered apart. */
  #findLists(original: ComparableRow): FreeRows<MessageRow>[] {
    const { folderId, traceHash, emailIdHash } = original.row
    const keys = collectKeys(original)
    const here = traceHash === null || traceHash === NO_TRACE ? [] : keys.map((key) => withTrace(key, traceHash))
    const byDelivery =
      traceHash === null ? keys : keys.flatMap((key) => [withTrace(key, null), withTrace(key, traceHash)])
    const elsewhere = [...(emailIdHash === null ? [] : [emailKey(emailIdHash)]), ...byDelivery]
    return [
      ...here.flatMap((name) => this.#lists.get(name)?.get(folderId) ?? []),
      ...elsewhere.flatMap((name) =>
        [...(this.#lists.get(name) ?? [])].flatMap(([folder, list]) => (folder === folderId ? [] : list)),
      ),
    ]
  }
}

function collectNames(copy: ComparableRow): string[] {
  return collectKeys(copy).flatMap((key) => [key, withTrace(key, copy.row.traceHash)])
}

/** A program that copies a message may add a header line, and may give it another INTERNALDATE. */
function collectKeys({ row, identity, copyKey }: ComparableRow): string[] {
  return [
    ...(row.emailIdHash === null ? [] : [emailKey(row.emailIdHash)]),
    `header ${row.headerHash}`,
    ...(identity === null ? [] : [`identity ${identity}`]),
    ...(copyKey === null ? [] : [`sent ${copyKey}`]),
  ]
}

function emailKey(emailIdHash: string): string {
  return `email ${emailIdHash}`
}

function withTrace(key: string, traceHash: string | null): string {
  return `${traceHash ?? 'unknown'} ${key}`
}

function groupByFolder(rows: readonly MessageRow[]): ReadonlyMap<string | null, FreeRows<MessageRow>> {
  const groups = [...groupBy(rows, ({ folderId }) => folderId)]
  return new Map(groups.map(([folderId, group]) => [folderId, new FreeRows(group)]))
}

/** The position of the first row that appeared since then, among rows in the order in which they appeared. */
function findPosition(rows: readonly MessageRow[], sinceMs: number): number {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((rows[middle]?.createdAt ?? sinceMs) < sinceMs) low = middle + 1
    else high = middle
  }
  return low
}
