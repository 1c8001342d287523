import { type SelectQueryBuilder, sql } from 'kysely'
import {
  countMatching,
  type Db,
  type Dialect,
  type Handle,
  insertRows,
  PREPARED,
  padded,
  type Tables,
  type Tx,
} from '../../platform/db/index.ts'
import { notFound } from '../../platform/errors/app-error.ts'
import { buildPage, type Page, pageRequest } from '../../platform/formats/pagination.ts'
import type { OutboxQuery } from './api.ts'
import type { OutboxRow } from './tables.ts'

/** The queue whose job keys are the accounts with messages to send. */
export const SEND_QUEUE = 'send'

/** In characters of base64. */
const PART_LENGTH = 256 * 1024
const PARTS_PER_INSERT = 8

/** Rows of the outbox and their bytes. The methods that write need a `Tx`. */
export function outboxStore(handle: Handle, dialect: Dialect) {
  return {
    async insert(row: OutboxRow, content: Buffer): Promise<void> {
      await handle.insertInto('outbox').values(row).execute()
      const data = content.toString('base64')
      for (let start = 0; start < data.length; start += PART_LENGTH * PARTS_PER_INSERT) {
        const parts = Array.from({ length: PARTS_PER_INSERT }, (_, index) => start + index * PART_LENGTH)
          .filter((from) => from < data.length)
          .map((from) => ({ outboxId: row.id, part: from / PART_LENGTH, data: data.slice(from, from + PART_LENGTH) }))
        await handle.insertInto('outboxParts').values(parts).execute()
      }
    },

    async get(id: string): Promise<OutboxRow> {
      const row = await handle.selectFrom('outbox').selectAll().where('id', '=', id).executeTakeFirst()
      if (row === undefined) throw notFound('message in the outbox', id)
      return row
    },

    /** By the random value of `X-Posthorn-Id`. */
    findByToken: (sentToken: string): Promise<OutboxRow | undefined> =>
      handle.selectFrom('outbox').selectAll().where('sentToken', '=', sentToken).executeTakeFirst(),

    /** The row, locked until the transaction ends. Throws not_found. */
    async lock(id: string): Promise<OutboxRow> {
      const query = handle.selectFrom('outbox').selectAll().where('id', '=', id).modifyEnd(dialect.forUpdate)
      const row = await query.executeTakeFirst()
      if (row === undefined) throw notFound('message in the outbox', id)
      return row
    },

    /** The id of another message that sends this draft: waiting, of unknown outcome, or sent while the draft is still to be deleted. */
    async findOpenOfDraft(draftId: string, exceptId: string): Promise<string | undefined> {
      const row = await handle
        .selectFrom('outbox')
        .select('id')
        .where('draftId', '=', draftId)
        .where('id', '<>', exceptId)
        .where(({ eb, or }) =>
          or([
            eb('status', 'in', ['scheduled', 'queued', 'sending', 'uncertain']),
            eb.and([eb('status', '=', 'sent'), eb('remaining', 'in', ['copy', 'draft'])]),
          ]),
        )
        .limit(1)
        .executeTakeFirst()
      return row?.id
    },

    /** Whether a message of this draft was sent, or may have been. */
    async wasAttempted(draftId: string): Promise<boolean> {
      const attempted = handle.selectFrom('outbox').select('id').where('draftId', '=', draftId)
      return (await attempted.where('committedAt', 'is not', null).limit(1).executeTakeFirst()) !== undefined
    },

    async update(id: string, changes: Partial<OutboxRow>): Promise<OutboxRow> {
      return handle.updateTable('outbox').set(changes).where('id', '=', id).returningAll().executeTakeFirstOrThrow()
    },

    async dropContent(ids: readonly string[]): Promise<void> {
      if (ids.length > 0) await handle.deleteFrom('outboxParts').where('outboxId', 'in', ids).execute()
    },

    /** Newest first. */
    async list(query: OutboxQuery): Promise<Page<OutboxRow>> {
      const filter = ['outbox', query.accountId, query.status]
      const request = pageRequest(query, filter, ['text'])
      const matching = matched(handle, query)
      const [afterId] = request.after ?? []
      // An index has the ids: a page far behind does not read the rows before it.
      const found = await matching
        .select('id')
        .$if(afterId !== undefined, (page) => page.where('id', '<', afterId ?? ''))
        .orderBy('id', 'desc')
        .limit(request.limit + 1)
        .offset(request.offset)
        .execute()
      const ids = found.map(({ id }) => id)
      const all = handle.selectFrom('outbox').selectAll()
      const rows = ids.length === 0 ? [] : await all.where('id', 'in', ids).orderBy('id', 'desc').execute()
      return buildPage(rows, request, await countMatching(handle, matching.select('id')), filter, (row) => [row.id])
    },
  }
}

/** In bytes: a run holds 25 messages, and a process has many runs. */
const SMALL_BYTES = 16 * 1024

/** The bytes of those messages that are small. */
export async function smallContents(
  handle: Handle,
  rows: readonly Pick<OutboxRow, 'id' | 'sizeBytes'>[],
): Promise<ReadonlyMap<string, Buffer>> {
  const ids = rows.filter(({ sizeBytes }) => sizeBytes <= SMALL_BYTES).map(({ id }) => id)
  if (ids.length === 0) return new Map()
  const parts = await handle
    .selectFrom('outboxParts')
    .select(['outboxId', 'data'])
    .where('outboxId', 'in', padded(ids))
    .where('part', '=', 0)
    .execute()
  return new Map(parts.map(({ outboxId, data }) => [outboxId, Buffer.from(data, 'base64')]))
}

/** The message's bytes, read part by part. */
export async function* readContent(
  db: Db,
  { id, sizeBytes }: Pick<OutboxRow, 'id' | 'sizeBytes'>,
): AsyncGenerator<Buffer> {
  const parts = Math.ceil((4 * Math.ceil(sizeBytes / 3)) / PART_LENGTH)
  for (let part = 0; part < parts; part += 1) {
    const row = await db.read
      .selectFrom('outboxParts')
      .modifyFront(PREPARED)
      .select('data')
      .where('outboxId', '=', id)
      .where('part', '=', part)
      .executeTakeFirst()
    if (row === undefined) return
    yield Buffer.from(row.data, 'base64')
  }
}

type Matching = SelectQueryBuilder<Tables, 'outbox', unknown>

function matched(handle: Handle, { accountId, status }: OutboxQuery): Matching {
  let matching: Matching = handle.selectFrom('outbox')
  if (accountId !== undefined) matching = matching.where('accountId', '=', accountId)
  if (status !== undefined) matching = matching.where('status', '=', status)
  // The index excludes sent messages; SQLite uses it only when the query repeats its condition literally.
  if (status !== undefined && status !== 'sent') matching = matching.where(sql<boolean>`"status" <> 'sent'`)
  return matching
}

const FINISHED = ['sent', 'failed', 'uncertain', 'cancelled'] as const

/** Deletes up to `limit` finished messages older than `beforeMs` and returns how many. */
export async function purgeOutbox(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const old = await tx
    .selectFrom('outbox')
    .select('id')
    .where('createdAt', '<', beforeMs)
    .where('status', 'in', FINISHED)
    .where('dueAt', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute()
  await remove(
    tx,
    old.map((row) => row.id),
  )
  return old.length
}

/** Deletes up to `limit` messages of a deleted account and returns how many. */
export async function eraseOutbox(tx: Tx, accountId: string, limit: number): Promise<number> {
  await tx.deleteFrom('outboxServers').where('accountId', '=', accountId).execute()
  await tx.deleteFrom('outboxKeepers').where('accountId', '=', accountId).execute()
  const rows = await tx.selectFrom('outbox').select('id').where('accountId', '=', accountId).limit(limit).execute()
  await remove(
    tx,
    rows.map((row) => row.id),
  )
  return rows.length
}

async function remove(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx.deleteFrom('outboxParts').where('outboxId', 'in', ids).execute()
  await tx.deleteFrom('outbox').where('id', 'in', ids).execute()
}

/** Remembers the server that worked, in place of an earlier one. */
export async function rememberServer(tx: Tx, row: Tables['outboxServers']): Promise<void> {
  await insertRows(
    tx,
    'outboxServers',
    [row],
    `on conflict ("accountId") do update set "accessVersion" = excluded."accessVersion", "smtp" = excluded."smtp"`,
  )
}

/** The remembered server; undefined when the account's credentials were replaced since. */
export async function knownServer(
  handle: Handle,
  accountId: string,
  accessVersion: number,
): Promise<string | undefined> {
  const row = await handle
    .selectFrom('outboxServers')
    .select('smtp')
    .where('accountId', '=', accountId)
    .where('accessVersion', '=', accessVersion)
    .executeTakeFirst()
  return row?.smtp
}
