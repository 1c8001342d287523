import type { Db } from '../../src/infra/db/index.ts'
import type { Dovecot } from '../servers/dovecot.ts'

/** A mail in a folder, as both sides can tell it: which, where, and its flags. */
export type Standing = string

/** What the store holds of the folders kept in step, sorted: `INBOX <1@x> unread`. */
export async function storedMails(db: Db, accountId: string): Promise<Standing[]> {
  const rows = await db.read
    .selectFrom('messageLabels')
    .innerJoin('messages', 'messages.id', 'messageLabels.messageId')
    .innerJoin('labels', 'labels.id', 'messageLabels.labelId')
    .select(['labels.providerId', 'messages.fields', 'messages.unread', 'messages.starred', 'messages.uid'])
    .where('messages.accountId', '=', accountId)
    .execute()
  return rows
    .map((row) =>
      standing(row.providerId, JSON.parse(row.fields).messageId, row.unread === 1, row.starred === 1, row.uid),
    )
    .sort()
}

/** The same of the server. */
export async function servedMails(server: Dovecot, user: string, folders: readonly string[]): Promise<Standing[]> {
  const found: Standing[] = []
  for (const folder of folders) {
    const printed = await server
      .doveadm('-f', 'tab', 'fetch', '-u', user, 'uid flags hdr.message-id', 'mailbox', folder)
      .catch(() => '')
    for (const line of printed.split('\n').slice(1)) {
      const [uid, flags = '', messageId = ''] = line.split('\t')
      if (uid === undefined || uid === '') continue
      found.push(standing(folder, messageId, !flags.includes('\\Seen'), flags.includes('\\Flagged'), Number(uid)))
    }
  }
  return found.sort()
}

function standing(
  folder: string,
  messageId: string | null,
  unread: boolean,
  starred: boolean,
  uid: number | null,
): Standing {
  return `${folder} ${uid} ${messageId || '-'} ${unread ? 'unread' : 'read'}${starred ? ' starred' : ''}`
}

export interface StoredEvent {
  type: string
  objectId: string | null
  version: number | null
  data: Record<string, unknown>
}

/** Every event of the account about messages and folders, in order. */
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
