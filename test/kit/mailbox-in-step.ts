import { expect, onTestFinished } from 'vitest'
import type { Db } from '../../src/infra/db/index.ts'
import type { Databases } from './database.ts'
import { eventually } from './eventually.ts'
import { type DoubleState, MailboxDouble } from './mailbox-double.ts'
import { announced, mailEvents } from './mailbox-state.ts'
import { type SyncServiceOptions, syncService } from './sync.ts'
import { connected } from './synced-mailbox.ts'

export interface MailboxInStepOptions extends SyncServiceOptions {
  /** What stands in the mailbox before it is linked. */
  before?(box: MailboxDouble): void
  pollMs?: number
}

/** No poll comes between: every look is asked for, but for what has to settle. */
export const QUIET = { moveGraceMs: 20 }

export const PROVIDERS = { whole: 'gmail', folders: 'microsoft' } as const

/** A mailbox of the provider double that is linked and in step; everything ends with the test. */
export async function mailboxInStep(kind: 'whole' | 'folders', open: Databases, options: MailboxInStepOptions = {}) {
  const db = await open()
  const box = new MailboxDouble(kind)
  box.pollMs = options.pollMs ?? 60_000
  options.before?.(box)
  const { timing, ...rest } = options
  const service = syncService(db, { ...rest, mail: box.mail, timing: { ...QUIET, ...timing } })
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
    look: () => synced(accountId),
    /** Requests a sync, waits until a run has served it, and then until the store holds what the provider does: mails, labels, flags, counters, lists of all mail. */
    async same(): Promise<void> {
      await synced(accountId)
      await eventually(async () => {
        expect(await storedMailbox(db, accountId)).toEqual(servedMailbox(state()))
        expect(await storedCounters(db, accountId)).toEqual(await countedLabels(db, accountId))
      })
    },
    /** Exactly these were announced as received; waits for them, and fails on more. */
    async received(...ids: string[]): Promise<void> {
      const wanted = ids.map((id) => `<${id}@x>`).sort()
      await eventually(async () => expect(await announced(db, accountId)).toEqual(wanted))
    },
    announced: (type: string) => announced(db, accountId, type),
    events: () => mailEvents(db, accountId),
    /** What was told of messages, shortly: `message.updated a 2`. */
    async told(): Promise<string[]> {
      const events = await mailEvents(db, accountId)
      return events
        .filter((event) => event.type !== 'mailbox.changed')
        .map((event) => `${event.type} ${event.data.providerMessageId} ${event.version}`)
    },
    /** Our ids by the provider's. */
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
      const labels = carried.filter((one) => one.messageId === row.id)
      const stray = labels.filter((one) => one.unread !== row.unread || one.receivedAt !== row.receivedAt)
      const paths = labels.map((one) => one.providerId ?? '(all)').sort()
      return standing(row.providerMessageId, row.subject, row.unread === 1, row.starred === 1, paths, [
        ...(row.goneAt === null ? [] : ['gone']),
        ...(stray.length === 0 ? [] : ['labels that say otherwise']),
      ])
    })
    .sort()
}

function servedMailbox({ mails, folders }: DoubleState): string[] {
  const roles = new Map(folders.map((folder) => [folder.path, folder.role]))
  return Object.values(mails)
    .map((mail) => {
      const isListed = !mail.folders.some((path) => ['trash', 'junk'].includes(roles.get(path) ?? ''))
      const paths = [...mail.folders, ...(isListed ? ['(all)'] : [])].sort()
      return standing(mail.id, mail.subject, mail.unread, mail.starred, paths, [])
    })
    .sort()
}

function standing(id: string, subject: string, unread: boolean, starred: boolean, labels: string[], odd: string[]) {
  return [id, subject, unread ? 'unread' : 'read', starred ? 'starred' : '', labels.join('+'), ...odd].join(' ')
}

async function storedCounters(db: Db, accountId: string) {
  const rows = await db.read
    .selectFrom('messageCounters')
    .select(['labelId', 'total', 'unread'])
    .where('accountId', '=', accountId)
    .where('total', '<>', 0)
    .orderBy('labelId')
    .execute()
  return rows.map((row) => `${row.labelId} ${row.total} ${row.unread}`)
}

async function countedLabels(db: Db, accountId: string) {
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
