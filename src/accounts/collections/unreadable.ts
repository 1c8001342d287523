import { backoffMs } from '../../platform/concurrency/retry.ts'
import { type Handle, insertRows, type Tx } from '../../platform/db/index.ts'
import { cleanText, truncateText } from '../../platform/formats/text.ts'

/** How many are kept of a collection; a program that writes more writes all of them alike. */
const MAX_ITEMS = 1000
/** How many the JSON of a collection names. */
const MAX_SHOWN = 10
const MAX_REASON = 300
/** How many items of a collection a sync reads again. */
const MAX_AGAIN = 20
const RETRY = { baseMs: 10_000, capMs: 6 * 3_600_000 }
const IDS_PER_QUERY = 500

/** An event or a contact that cannot be read, entirely or in part. */
export interface UnreadableItem {
  /** As the provider names it. */
  itemId: string
  /** A sentence for the operator. */
  reason: string
  /** The provider did not return it, so it is read again. */
  isRefused?: boolean
}

interface Collection {
  id: string
  /** The listing that is under way. */
  round: number
  /** How many of its items are unreadable. */
  unreadable: number
}

/** Where one kind of collection stores them: the tables differ in the name of one column. */
interface UnreadableTable {
  table: 'unreadableEvents' | 'unreadableContacts'
  /** The column with the id of the collection. */
  collectionId: 'calendarId' | 'bookId'
  /** Stores how many of a collection are unreadable. */
  saveCount(tx: Tx, id: string, unreadable: number): Promise<unknown>
}

interface Stored {
  reason: string
  failures: number
}

/** The items of calendars, or of address books, that cannot be read: each is reported, and stops no other one. */
export class UnreadableItems {
  readonly #table: 'unreadableEvents'
  readonly #collectionId: 'calendarId'
  readonly #saveCount: UnreadableTable['saveCount']

  constructor({ table, collectionId, saveCount }: UnreadableTable) {
    // The types of both tables are alike, and those of a union of them would have no query.
    this.#table = table as 'unreadableEvents'
    this.#collectionId = collectionId as 'calendarId'
    this.#saveCount = saveCount
  }

  /** Stores which items could not be read. `read` are ids of those that could, or are gone. Returns those whose reason is new. */
  async save(
    tx: Tx,
    collection: Collection,
    { read, unreadable }: { read: readonly string[]; unreadable: readonly UnreadableItem[] },
    nowMs: number,
  ): Promise<UnreadableItem[]> {
    if (collection.unreadable === 0 && unreadable.length === 0) return []
    const items = new Map(unreadable.map((item) => [cleanText(item.itemId), item]))
    const earlier = await this.#find(tx, collection.id, [...items.keys()])
    await this.#remove(tx, collection.id, [...read, ...earlier.keys()])
    const left = MAX_ITEMS - (await this.#count(tx, collection.id))
    const rows = [...items].slice(0, Math.max(0, left)).map(([providerId, { reason, isRefused = false }]) => {
      const failures = isRefused ? (earlier.get(providerId)?.failures ?? 0) + 1 : 0
      return {
        [this.#collectionId]: collection.id,
        round: collection.round,
        foundAt: nowMs,
        providerId,
        reason: truncateText(cleanText(reason), MAX_REASON),
        failures,
        nextAttemptAt: failures === 0 ? null : nowMs + backoffMs(failures, RETRY),
      }
    })
    await insertRows(tx, this.#table, rows)
    await this.#countAgain(tx, collection.id)
    return rows.flatMap(({ providerId, reason }) =>
      earlier.get(providerId)?.reason === reason ? [] : [{ itemId: providerId, reason }],
    )
  }

  /** Ids of items that the provider did not return, and that are read again now. */
  async findDue(
    handle: Handle,
    { id, unreadable }: Pick<Collection, 'id' | 'unreadable'>,
    nowMs: number,
  ): Promise<string[]> {
    if (unreadable === 0) return []
    const rows = await handle
      .selectFrom(this.#table)
      .select('providerId')
      .where(this.#collectionId, '=', id)
      .where('nextAttemptAt', '<=', nowMs)
      .orderBy('nextAttemptAt')
      .limit(MAX_AGAIN)
      .execute()
    return rows.map(({ providerId }) => providerId)
  }

  /** Removes what rounds before `round` could not read, because it no longer exists. */
  async removeBefore(tx: Tx, id: string, round: number): Promise<void> {
    await tx.deleteFrom(this.#table).where(this.#collectionId, '=', id).where('round', '<', round).execute()
    await this.#countAgain(tx, id)
  }

  /** Some of each collection that has any, by the id of the collection. */
  async readSome(
    handle: Handle,
    collections: readonly Pick<Collection, 'id' | 'unreadable'>[],
  ): Promise<Map<string, UnreadableItem[]>> {
    const found = new Map<string, UnreadableItem[]>()
    for (const { id } of collections.filter(({ unreadable }) => unreadable > 0)) {
      const rows = await handle
        .selectFrom(this.#table)
        .select(['providerId as itemId', 'reason'])
        .where(this.#collectionId, '=', id)
        .orderBy('providerId')
        .limit(MAX_SHOWN)
        .execute()
      found.set(id, rows)
    }
    return found
  }

  async #find(tx: Tx, id: string, itemIds: readonly string[]): Promise<Map<string, Stored>> {
    const found = new Map<string, Stored>()
    for (let start = 0; start < itemIds.length; start += IDS_PER_QUERY) {
      const rows = await tx
        .selectFrom(this.#table)
        .select(['providerId', 'reason', 'failures'])
        .where(this.#collectionId, '=', id)
        .where('providerId', 'in', itemIds.slice(start, start + IDS_PER_QUERY))
        .execute()
      for (const { providerId, ...row } of rows) found.set(providerId, row)
    }
    return found
  }

  async #remove(tx: Tx, id: string, itemIds: readonly string[]): Promise<void> {
    for (let start = 0; start < itemIds.length; start += IDS_PER_QUERY) {
      await tx
        .deleteFrom(this.#table)
        .where(this.#collectionId, '=', id)
        .where('providerId', 'in', itemIds.slice(start, start + IDS_PER_QUERY))
        .execute()
    }
  }

  async #count(tx: Tx, id: string): Promise<number> {
    const { count } = await tx
      .selectFrom(this.#table)
      .select((eb) => eb.fn.countAll().as('count'))
      .where(this.#collectionId, '=', id)
      .executeTakeFirstOrThrow()
    return Number(count)
  }

  async #countAgain(tx: Tx, id: string): Promise<void> {
    await this.#saveCount(tx, id, await this.#count(tx, id))
  }
}
