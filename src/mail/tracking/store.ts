import type { Selectable } from 'kysely'
import { type Dialect, type Handle, insertRows, type Tables, type Tx } from '../../platform/db/index.ts'

export type TrackingRow = Selectable<Tables['trackings']>
export type TrackingEventRow = Selectable<Tables['trackingEvents']>

/** Strangers cause these rows, so each message has at most this many of each type. */
const MAX_EVENTS = 1000
/** In one response. */
const MAX_LISTED = 1000

/** Reads and writes the tracking of messages. The methods that write need a `Tx`. */
export function trackingStore(handle: Handle) {
  const rows = () => handle.selectFrom('trackings').selectAll()
  return {
    find: (id: string): Promise<TrackingRow | undefined> => rows().where('id', '=', id).executeTakeFirst(),

    findByMessage: (messageId: string): Promise<TrackingRow | undefined> =>
      rows().where('messageId', '=', messageId).executeTakeFirst(),

    findByToken: (tokenHash: string): Promise<TrackingRow | undefined> =>
      rows().where('tokenHash', '=', tokenHash).executeTakeFirst(),

    /** Locked until the end of the transaction, so that concurrent opens count once. */
    lock: (id: string, dialect: Dialect): Promise<TrackingRow | undefined> =>
      rows().where('id', '=', id).modifyEnd(dialect.forUpdate).executeTakeFirst(),

    async findLink(trackingId: string, number: number): Promise<string | undefined> {
      const row = await handle
        .selectFrom('trackingLinks')
        .select('url')
        .where('trackingId', '=', trackingId)
        .where('number', '=', number)
        .executeTakeFirst()
      return row?.url
    },

    /** Newest first. Replies are listed before opens and clicks use up the limit. */
    async events(trackingId: string): Promise<TrackingEventRow[]> {
      const listed = await handle
        .selectFrom('trackingEvents')
        .selectAll()
        .where('trackingId', '=', trackingId)
        .orderBy(({ eb }) => eb.case().when('type', '=', 'replied').then(0).else(1).end())
        .orderBy('id', 'desc')
        .limit(MAX_LISTED)
        .execute()
      return listed.sort((one, other) => (one.id < other.id ? 1 : -1))
    },

    async lastOpen(trackingId: string): Promise<TrackingEventRow | undefined> {
      return handle
        .selectFrom('trackingEvents')
        .selectAll()
        .where('trackingId', '=', trackingId)
        .where('type', '=', 'opened')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst()
    },

    /** By the hash of the Message-ID. Of several, the newest: a draft and what was sent of it share the Message-ID. */
    findByRfcId: (accountId: string, rfcIdHash: string): Promise<TrackingRow | undefined> =>
      rows()
        .where('accountId', '=', accountId)
        .where('rfcIdHash', '=', rfcIdHash)
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst(),

    /** By message. */
    async byMessages(messageIds: readonly string[]): Promise<Map<string, TrackingRow>> {
      if (messageIds.length === 0) return new Map()
      const found = await rows()
        .where('messageId', 'in', [...messageIds])
        .execute()
      return new Map(found.map((row) => [row.messageId, row]))
    },

    /** By the hash of the Message-ID. Locked like `lock`. */
    async lockByRfcIds(
      accountId: string,
      hashes: readonly string[],
      dialect: Dialect,
    ): Promise<Map<string | null, TrackingRow>> {
      const found = await rows()
        .where('accountId', '=', accountId)
        .where('rfcIdHash', 'in', [...new Set(hashes)])
        .orderBy('id')
        .modifyEnd(dialect.forUpdate)
        .execute()
      return new Map(found.map((row) => [row.rfcIdHash, row]))
    },

    async insertEvent(tx: Tx, row: TrackingEventRow): Promise<void> {
      await tx.insertInto('trackingEvents').values(row).execute()
    },

    async saveCounts(tx: Tx, { id, version, openCount, clickCount, replyCount, ...row }: TrackingRow): Promise<void> {
      const { lastOpenedAt, lastClickedAt, lastRepliedAt } = row
      await tx
        .updateTable('trackings')
        .set({ version, openCount, clickCount, replyCount, lastOpenedAt, lastClickedAt, lastRepliedAt })
        .where('id', '=', id)
        .execute()
    },

    async insert(tx: Tx, row: TrackingRow, links: readonly string[]): Promise<void> {
      await tx.insertInto('trackings').values(row).execute()
      await insertRows(
        tx,
        'trackingLinks',
        links.map((url, index) => ({ trackingId: row.id, number: index + 1, url })),
      )
    },
  }
}

/** The row after one more event. */
export function counted(row: TrackingRow, type: TrackingEventRow['type'], nowMs: number): TrackingRow {
  const version = row.version + 1
  if (type === 'opened') return { ...row, version, openCount: row.openCount + 1, lastOpenedAt: nowMs }
  if (type === 'link_clicked') return { ...row, version, clickCount: row.clickCount + 1, lastClickedAt: nowMs }
  return { ...row, version, replyCount: row.replyCount + 1, lastRepliedAt: nowMs }
}

/** Strangers have caused as many events of this type as are stored. */
export function isFull(row: TrackingRow, type: TrackingEventRow['type']): boolean {
  const counts = { opened: row.openCount, link_clicked: row.clickCount, replied: row.replyCount }
  return counts[type] >= MAX_EVENTS
}

/** Deletes up to `limit` messages' tracking older than `beforeMs` and returns how many. */
export async function purgeTracking(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const old = await tx
    .selectFrom('trackings')
    .select('id')
    .where('createdAt', '<', beforeMs)
    .orderBy('createdAt')
    .limit(Math.min(BATCH, limit))
    .execute()
  await deleteTracking(
    tx,
    old.map(({ id }) => id),
  )
  return old.length
}

/** Each has up to 3,000 events and 500 links. */
const BATCH = 2

/** Deletes some of a deleted account's tracking. Returns the number of rows; 0: nothing is left. */
export async function eraseTracking(tx: Tx, accountId: string, limit: number): Promise<number> {
  const rows = await tx
    .selectFrom('trackings')
    .select('id')
    .where('accountId', '=', accountId)
    .limit(Math.min(BATCH, limit))
    .execute()
  await deleteTracking(
    tx,
    rows.map(({ id }) => id),
  )
  return rows.length
}

async function deleteTracking(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  for (const table of ['trackingEvents', 'trackingLinks'] as const) {
    await tx
      .deleteFrom(table)
      .where('trackingId', 'in', [...ids])
      .execute()
  }
  await tx
    .deleteFrom('trackings')
    .where('id', 'in', [...ids])
    .execute()
}
