import type { Db } from '../../../src/platform/db/index.ts'
import type { Dovecot } from '../../servers/dovecot.ts'

/** A message in a folder, as the store and the server can both describe it: folder, UID, Message-ID and flags. */
export type MessageState = string

/** The stored messages of the synced folders, sorted: `INBOX 7 <1@x> unread`. */
export async function storedMessages(db: Db, accountId: string): Promise<MessageState[]> {
  const rows = await db.read
    .selectFrom('messageLabels')
    .innerJoin('messages', 'messages.id', 'messageLabels.messageId')
    .innerJoin('labels', 'labels.id', 'messageLabels.labelId')
    .select(['labels.providerId', 'messages.fields', 'messages.unread', 'messages.starred', 'messages.uid'])
    .where('messages.accountId', '=', accountId)
    .execute()
  return rows
    .map((row) =>
      messageState(row.providerId, JSON.parse(row.fields).messageId, row.unread === 1, row.starred === 1, row.uid),
    )
    .sort()
}

/** The server's messages in these folders, in the form of `storedMessages`. */
export async function serverMessages(
  server: Dovecot,
  user: string,
  folders: readonly string[],
): Promise<MessageState[]> {
  const found: MessageState[] = []
  const printed = await server.doveadm('-f', 'tab', 'fetch', '-u', user, 'mailbox uid flags hdr.message-id', 'all')
  for (const line of printed.split('\n').slice(1)) {
    const [folder = '', uid, flags = '', messageId = ''] = line.split('\t')
    if (uid === undefined || !folders.includes(folder)) continue
    found.push(messageState(folder, messageId, !flags.includes('\\Seen'), flags.includes('\\Flagged'), Number(uid)))
  }
  return found.sort()
}

export function messageState(
  folder: string,
  messageId: string | null,
  unread: boolean,
  starred: boolean,
  uid: number | null,
): MessageState {
  return `${folder} ${uid} ${messageId || '-'} ${unread ? 'unread' : 'read'}${starred ? ' starred' : ''}`
}

export interface StoredEvent {
  type: string
  objectId: string | null
  version: number | null
  data: Record<string, unknown>
}

/** Every message and folder event of the account, in order. */
export async function mailEvents(db: Db, accountId: string): Promise<StoredEvent[]> {
  const rows = await db.read
    .selectFrom('events')
    .select(['type', 'objectId', 'version', 'data'])
    .where('accountId', '=', accountId)
    .orderBy('sequence')
    .execute()
  return rows.filter((row) => !row.type.startsWith('account.')).map((row) => ({ ...row, data: JSON.parse(row.data) }))
}

/** Message-IDs of the events of one type, sorted. */
export async function announced(db: Db, accountId: string, type = 'message.received'): Promise<string[]> {
  const events = await mailEvents(db, accountId)
  return events
    .filter((event) => event.type === type)
    .map((event) => String(event.data.messageId))
    .sort()
}
