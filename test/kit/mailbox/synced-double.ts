import { expect, onTestFinished } from 'vitest'
import type { Db } from '../../../src/platform/db/index.ts'
import type { IdMailProvider } from '../../../src/providers/contract/index.ts'
import type { Databases } from '../database/database.ts'
import { eventually } from '../eventually.ts'
import { type DoubleState, MailboxDouble } from './double/mailbox-double.ts'
import { announced, mailEvents } from './mailbox-state.ts'
import { type SyncServiceOptions, syncService } from './sync.ts'
import { connected } from './synced-mailbox.ts'

export interface SyncedDoubleOptions extends SyncServiceOptions {
  /** Fills the mailbox before it is linked. */
  before?(box: MailboxDouble): void
  pollMs?: number
  /** Wraps the provider of the double for the service; `dbAs` wraps the database. */
  mailAs?(mail: IdMailProvider): IdMailProvider
  dbAs?(db: Db): Db
}

/** No polls: a sync runs only when the test requests it, or when the short grace for moves ends. */
export const QUIET = { moveGraceMs: 20 }

export const PROVIDERS = { whole: 'gmail', folders: 'microsoft' } as const

/** Links a mailbox of the provider double and waits until it is synced. Everything stops with the test. */
export async function syncedDouble(kind: 'whole' | 'folders', open: Databases, options: SyncedDoubleOptions = {}) {
  const db = await open()
  const box = new MailboxDouble(kind)
  box.pollMs = options.pollMs ?? 60_000
  options.before?.(box)
  const { timing, mailAs = (mail) => mail, dbAs = (db) => db, ...rest } = options
  const service = syncService(dbAs(db), { ...rest, mail: mailAs(box.mail), timing: { ...QUIET, ...timing } })
  onTestFinished(() => service.stop())
  const accountId = await service.linkMailbox(PROVIDERS[kind])
  await service.start()
  await connected(service, accountId)
  return { db, box, service, accountId, ...watchedMailbox(db, accountId, () => box.state, service.synced) }
}

export function watchedMailbox(
  db: Db,
  accountId: string,
  state: () => DoubleState,
  synced: (accountId: string) => Promise<void>,
) {
  return {
    sync: () => synced(accountId),
    /** Requests a sync and waits until the store equals the provider's mailbox: messages, labels, flags and counters. */
    async same(): Promise<void> {
      await synced(accountId)
      await eventually(async () => {
        expect(await storedMailbox(db, accountId)).toEqual(providerMailbox(state()))
        expect(await storedCounters(db, accountId)).toEqual(await countedLabels(db, accountId))
      })
    },
    /** Waits until exactly these messages have been announced as received. */
    async received(...ids: string[]): Promise<void> {
      const wanted = ids.map((id) => `<${id}@x>`).sort()
      await eventually(async () => expect(await announced(db, accountId)).toEqual(wanted))
    },
    announced: (type: string) => announced(db, accountId, type),
    events: () => mailEvents(db, accountId),
    /** Emitted message events, abbreviated: `message.updated a 2`. */
    async emitted(): Promise<string[]> {
      const events = await mailEvents(db, accountId)
      return events
        .filter((event) => event.type !== 'mailbox.changed')
        .map((event) => `${event.type} ${event.data.providerMessageId} ${event.version}`)
    },
    /** Stored message ids by provider id. */
    async ids(): Promise<Record<string, string>> {
      const rows = await db.read
        .selectFrom('messages')
        .select(['id', 'providerMessageId'])
        .where('accountId', '=', accountId)
        .execute()
      return Object.fromEntries(rows.map((row) => [row.providerMessageId, row.id]))
    },
  }
}

async function storedMailbox(db: Db, accountId: string): Promise<string[]> {
  const rows = await db.read.selectFrom('messages').selectAll().where('accountId', '=', accountId).execute()
  const carried = await db.read
    .selectFrom('messageLabels')
    .leftJoin('labels', 'labels.id', 'messageLabels.labelId')
    .select(['messageId', 'providerId', 'unread', 'receivedAt'])
    .where('messageId', 'in', [...rows.map((row) => row.id), ''])
    .execute()
  return rows
    .map((row) => {
      const labels = carried.filter((label) => label.messageId === row.id)
      const stray = labels.filter((label) => label.unread !== row.unread || label.receivedAt !== row.receivedAt)
      const paths = labels.map((label) => label.providerId ?? '(all)').sort()
      return messageState(row.providerMessageId, row.subject, row.unread === 1, row.starred === 1, paths, [
        ...(row.goneAt === null ? [] : ['gone']),
        ...(stray.length === 0 ? [] : ['labels that differ from the message']),
      ])
    })
    .sort()
}

function providerMailbox({ messages, folders }: DoubleState): string[] {
  const roles = new Map(folders.map((folder) => [folder.path, folder.role]))
  return Object.values(messages)
    .map((message) => {
      const isListed = !message.folders.some((path) => ['trash', 'junk'].includes(roles.get(path) ?? ''))
      const paths = [...message.folders, ...(isListed ? ['(all)'] : [])].sort()
      return messageState(message.id, message.subject, message.unread, message.starred, paths, [])
    })
    .sort()
}

function messageState(id: string, subject: string, unread: boolean, starred: boolean, labels: string[], odd: string[]) {
  return [id, subject, unread ? 'unread' : 'read', starred ? 'starred' : '', labels.join('+'), ...odd].join(' ')
}

/** Total and unread of every label, as stored. */
export async function storedCounters(db: Db, accountId: string) {
  const rows = await db.read
    .selectFrom('messageCounters')
    .select(['labelId', 'total', 'unread'])
    .where('accountId', '=', accountId)
    .where('total', '<>', 0)
    .orderBy('labelId')
    .execute()
  return rows.map((row) => `${row.labelId} ${row.total} ${row.unread}`)
}

/** The same, counted. */
export async function countedLabels(db: Db, accountId: string) {
  const rows = await db.read
    .selectFrom('messageLabels')
    .innerJoin('messages', 'messages.id', 'messageLabels.messageId')
    .select(({ fn, ref }) => ['labelId', fn.countAll().as('total'), fn.sum(ref('messageLabels.unread')).as('unread')])
    .where('accountId', '=', accountId)
    .groupBy('labelId')
    .orderBy('labelId')
    .execute()
  return rows.map((row) => `${row.labelId} ${row.total} ${row.unread}`)
}
