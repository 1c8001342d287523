import type { Handle, Tx } from '../../../infra/db/index.ts'
import { cleanJson } from '../../../lib/text.ts'
import type { MessageBody } from '../../../providers/contract/index.ts'
import type { StoredMail } from '../reading/live-access.ts'

/** A message whose body is wanted, and how it is found at the provider now. */
export interface WantedBody {
  messageId: string
  attempts: number
  mail: StoredMail
}

/** Longer ones, as JSON, are left at the provider. */
const MAX_LENGTH = 4_000_000

/** Bodies kept in the store. A row without a body is a wish: it stands from the transaction that stored the message. */
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

    /** Those of messages that can be read now; what failed least comes first. */
    async wanted(accountId: string, limit: number): Promise<WantedBody[]> {
      const rows = await handle
        .selectFrom('messageBodies')
        .innerJoin('messages', 'messages.id', 'messageBodies.messageId')
        .leftJoin('labels', 'labels.id', 'messages.folderId')
        .select(['messageBodies.messageId', 'attempts', 'providerId', 'providerMessageId', 'uidValidity', 'uid'])
        .where('messageBodies.accountId', '=', accountId)
        .where('body', 'is', null)
        .where((eb) => eb.or([eb('uid', 'is not', null), eb('uidValidity', 'is', null)]))
        .where('goneAt', 'is', null)
        .orderBy('attempts')
        .orderBy('messageBodies.messageId')
        .limit(limit)
        .execute()
      return rows.map(({ messageId, attempts, providerId: folderPath, ...mail }) => ({
        messageId,
        attempts,
        mail: { ...mail, folderPath },
      }))
    },

    /** Accounts with wishes. */
    async waiting(): Promise<string[]> {
      const rows = await handle
        .selectFrom('messageBodies')
        .select('accountId')
        .distinct()
        .where('body', 'is', null)
        .execute()
      return rows.map((row) => row.accountId)
    },
  }
}

export async function wantBodies(tx: Tx, accountId: string, messageIds: readonly string[]): Promise<void> {
  if (messageIds.length === 0) return
  const rows = messageIds.map((messageId) => ({ messageId, accountId, body: null, attempts: 0 }))
  await tx.insertInto('messageBodies').values(rows).execute()
}

/** Fulfils a wish; a body that is too long, or a message deleted meanwhile, leaves nothing behind. */
export async function keepBody(tx: Tx, messageId: string, body: MessageBody): Promise<void> {
  const text = cleanJson(body)
  if (text.length > MAX_LENGTH) return dropBodies(tx, [messageId])
  await tx.updateTable('messageBodies').set({ body: text }).where('messageId', '=', messageId).execute()
}

export async function postponeBody(tx: Tx, messageId: string): Promise<void> {
  await tx
    .updateTable('messageBodies')
    .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
    .where('messageId', '=', messageId)
    .execute()
}

export async function dropBodies(tx: Tx, messageIds: readonly string[]): Promise<void> {
  if (messageIds.length === 0) return
  await tx
    .deleteFrom('messageBodies')
    .where('messageId', 'in', [...messageIds])
    .execute()
}
