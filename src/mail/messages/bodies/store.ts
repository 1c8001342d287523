import { sql } from 'kysely'
import { type Handle, insertRows, type Tx } from '../../../platform/db/index.ts'
import { cleanJson } from '../../../platform/formats/text.ts'
import type { MessageBody } from '../../../providers/contract/index.ts'
import type { MessageRef } from '../read/live-access.ts'
import { toIdentity } from '../rows/row.ts'

/** The content of a message may change while its body is fetched; what was fetched is then out of date. */
interface MessageVersion {
  messageId: string
  version: number
}

/** A body that is to be fetched, and the message's current reference at the provider. */
export interface PendingBody extends MessageVersion {
  attempts: number
  ref: MessageRef
}

/** In characters of JSON. Larger bodies are not stored; the API reads them live. */
const MAX_LENGTH = 4_000_000

/** Reads stored and pending bodies. A row without a body is pending; it is written together with the message. */
export function bodyStore(handle: Handle) {
  return {
    async find(messageId: string): Promise<MessageBody | undefined> {
      const row = await handle
        .selectFrom('messageBodies')
        .select('body')
        .where('messageId', '=', messageId)
        .executeTakeFirst()
      return row?.body == null ? undefined : (JSON.parse(row.body) as MessageBody)
    },

    /** Pending bodies of messages that have a location or an id at the provider; fewest failed attempts first. */
    async pending(accountId: string, limit: number): Promise<PendingBody[]> {
      const rows = await handle
        .selectFrom('messageBodies')
        .innerJoin('messages', 'messages.id', 'messageBodies.messageId')
        .leftJoin('labels', 'labels.id', 'messages.folderId')
        .select([
          'messageBodies.messageId',
          'attempts',
          'messages.version',
          'providerId',
          'providerMessageId',
          'uidValidity',
          'uid',
          'fields',
          'receivedAt',
          'error',
        ])
        .where('messageBodies.accountId', '=', accountId)
        .where('body', 'is', null)
        .where((eb) => eb.or([eb('uid', 'is not', null), eb('uidValidity', 'is', null)]))
        .where('goneAt', 'is', null)
        .orderBy('attempts')
        .orderBy('messageBodies.messageId')
        .limit(limit)
        .execute()
      return rows.map(({ messageId, version, attempts, providerId: folderPath, ...row }) => {
        const { providerMessageId, uidValidity, uid } = row
        const ref = { providerMessageId, uidValidity, uid, folderPath, identity: toIdentity(row) }
        return { messageId, version, attempts, ref }
      })
    },

    /** Skips from account to account in the index: a distinct query would read every pending body. */
    async accountsWithPending(): Promise<string[]> {
      const { rows } = await sql<{ accountId: string }>`
        with recursive "found" ("accountId") as (
          select min("accountId") from "messageBodies" where "body" is null
          union all
          select (select min("accountId") from "messageBodies" where "body" is null and "accountId" > "found"."accountId")
          from "found" where "found"."accountId" is not null)
        select "accountId" from "found" where "accountId" is not null`.execute(handle)
      return rows.map((row) => row.accountId)
    },
  }
}

export async function addPendingBodies(tx: Tx, accountId: string, messageIds: readonly string[]): Promise<void> {
  const rows = messageIds.map((messageId) => ({ messageId, accountId, body: null, attempts: 0 }))
  await insertRows(tx, 'messageBodies', rows)
}

/**
 * Stores a pending body. Stores nothing for a body that is too large, or a message that was deleted or changed meanwhile; the
 * body of a changed message stays pending.
 */
export async function storeBody(tx: Tx, fetched: MessageVersion, body: MessageBody): Promise<void> {
  const text = cleanJson(body)
  if (text.length > MAX_LENGTH) return discardBody(tx, fetched)
  await tx
    .updateTable('messageBodies')
    .set({ body: text })
    .where('messageId', '=', fetched.messageId)
    .where(isCurrent(fetched))
    .execute()
}

/** Stores or replaces the body of a message, in the transaction that stores the message. Stores nothing for a body that is too large. */
export async function putBody(tx: Tx, accountId: string, messageId: string, body: MessageBody): Promise<void> {
  const text = cleanJson(body)
  await deleteBodies(tx, [messageId])
  if (text.length <= MAX_LENGTH)
    await insertRows(tx, 'messageBodies', [{ messageId, accountId, body: text, attempts: 0 }])
}

/** Deletes a pending body that cannot be fetched or stored, unless the message changed meanwhile. */
export async function discardBody(tx: Tx, failed: MessageVersion): Promise<void> {
  await tx.deleteFrom('messageBodies').where('messageId', '=', failed.messageId).where(isCurrent(failed)).execute()
}

export async function countFailedAttempt(tx: Tx, messageId: string): Promise<void> {
  await tx
    .updateTable('messageBodies')
    .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
    .where('messageId', '=', messageId)
    .execute()
}

function isCurrent({ messageId, version }: MessageVersion) {
  return sql<boolean>`exists (select 1 from "messages" where "id" = ${messageId} and "version" = ${version})`
}

/** Deletes stored and pending bodies. */
export async function deleteBodies(tx: Tx, messageIds: readonly string[]): Promise<void> {
  if (messageIds.length === 0) return
  await tx
    .deleteFrom('messageBodies')
    .where('messageId', 'in', [...messageIds])
    .execute()
}
