import { expect, onTestFinished } from 'vitest'
import type { Db } from '../../../src/platform/db/index.ts'
import type { Dovecot } from '../../servers/dovecot.ts'
import { plainMail } from '../../servers/messages.ts'
import type { Databases } from '../database/database.ts'
import { eventually } from '../eventually.ts'
import { announced, type MessageState, mailEvents, serverMessages, storedMessages } from './mailbox-state.ts'
import { type SyncService, type SyncServiceOptions, syncService } from './sync.ts'

const PASSWORD = 'one'
const OWN = ['INBOX', 'Sent', 'Drafts', 'Archive', 'Junk', 'Trash']
let users = 0

export interface SyncedMailboxOptions extends SyncServiceOptions {
  /** Fills the mailbox before it is linked. */
  before?(box: Mailbox): Promise<void>
  mailbox?: string
}

/** A user's mailbox on the server, changed as by another mail client. */
export type Mailbox = ReturnType<typeof openMailbox>

export function openMailbox(server: Dovecot, user: string) {
  const query = (id: string, folder: string) => ['mailbox', folder, 'header', 'message-id', `<${id}@x>`]
  return {
    user,
    deliver: (...ids: string[]) =>
      server.deliverMany(
        user,
        ids.map((id) => mail(id)),
      ),
    put: (folder: string, ...ids: string[]) =>
      ids.reduce<Promise<void>>(
        (before, id) => before.then(() => server.deliver(user, mail(id), { folder })),
        Promise.resolve(),
      ),
    flag: (id: string, flag: string, folder = 'INBOX') =>
      server.doveadm('flags', 'add', '-u', user, flag, ...query(id, folder)),
    unflag: (id: string, flag: string, folder = 'INBOX') =>
      server.doveadm('flags', 'remove', '-u', user, flag, ...query(id, folder)),
    move: (id: string, to: string, from = 'INBOX') => server.doveadm('move', '-u', user, to, ...query(id, from)),
    copy: (id: string, to: string, from = 'INBOX') => server.doveadm('copy', '-u', user, to, ...query(id, from)),
    expunge: (id: string, folder = 'INBOX') => server.doveadm('expunge', '-u', user, ...query(id, folder)),
    empty: (folder: string) => server.doveadm('expunge', '-u', user, 'mailbox', folder, 'all'),
    create: (folder: string) => server.doveadm('mailbox', 'create', '-u', user, folder),
    rename: (from: string, to: string) => server.doveadm('mailbox', 'rename', '-u', user, from, to),
    drop: (folder: string) => server.doveadm('mailbox', 'delete', '-r', '-u', user, folder),
    renumber: (folder: string, uidValidity: number) =>
      server.doveadm('mailbox', 'update', '-u', user, '--uid-validity', String(uidValidity), folder),
  }
}

export function mail(id: string, more: Parameters<typeof plainMail>[0] = {}): Buffer {
  return plainMail({ messageId: `<${id}@x>`, subject: id, ...more })
}

/** Links the mailbox of a new user and waits until it is synced. Everything stops with the test. */
export async function syncedMailbox(server: Dovecot, open: Databases, options: SyncedMailboxOptions = {}) {
  const db = await open()
  const user = `user${process.pid}-${users++}`
  await server.addUser(user, PASSWORD)
  const box = openMailbox(server, user)
  await options.before?.(box)
  const service = syncService(db, { timing: { pollMs: 400 }, ...options })
  onTestFinished(() => service.stop())
  const accountId = await service.link(server, user, PASSWORD, options.mailbox)
  await service.start()
  await connected(service, accountId)
  return { db, user, box, service, accountId, ...watched(server, db, user, accountId, options) }
}

function watched(server: Dovecot, db: Db, user: string, accountId: string, { settings }: SyncedMailboxOptions) {
  const folders = [...OWN, ...(settings?.folders ?? [])]
  return {
    /** Waits until the store equals the server's mailbox and no row awaits completion. */
    async same(inFolders: readonly string[] = folders): Promise<void> {
      const onServer = readAgainAfterChanges(() => serverMessages(server, user, inFolders))
      await eventually(async () => {
        const stored = await storedMessages(db, accountId)
        expect(stored).toEqual(await onServer(stored))
        expect(await countIncomplete(db, accountId)).toBe(0)
      })
    },
    /** Waits until exactly these messages have been announced as received. */
    async received(...ids: string[]): Promise<void> {
      const wanted = ids.map((id) => `<${id}@x>`).sort()
      await eventually(async () => expect(await announced(db, accountId)).toEqual(wanted))
    },
    /** Waits until these folders are stored with these UIDVALIDITYs. */
    async listed(folders: ReadonlyMap<string, number>): Promise<void> {
      await eventually(async () => {
        const labels = db.read
          .selectFrom('labels')
          .select(['providerId', 'mailboxId'])
          .where('accountId', '=', accountId)
        const stored = new Map((await labels.execute()).map(({ providerId, mailboxId }) => [providerId, mailboxId]))
        for (const [path, number] of folders) expect(stored.get(path)).toBe(`uidvalidity-${number}`)
      })
    },
    announced: (type: string) => announced(db, accountId, type),
    events: () => mailEvents(db, accountId),
    /** Stored message ids by Message-ID. */
    async ids(): Promise<Record<string, string[]>> {
      const rows = await db.read
        .selectFrom('messages')
        .select(['id', 'fields'])
        .where('accountId', '=', accountId)
        .orderBy('id')
        .execute()
      const ids: Record<string, string[]> = {}
      for (const row of rows) {
        const messageId = String(JSON.parse(row.fields).messageId).replace(/^<|@x>$/g, '')
        ids[messageId] = [...(ids[messageId] ?? []), row.id]
      }
      return ids
    },
  }
}

/** Reads the server's messages when the store has changed, or a second has passed: each time is a process. */
function readAgainAfterChanges(read: () => Promise<MessageState[]>) {
  let last: { stored: string; messages: MessageState[]; atMs: number } | undefined
  return async (messages: readonly MessageState[]): Promise<MessageState[]> => {
    const stored = messages.join('\n')
    if (last === undefined || last.stored !== stored || performance.now() - last.atMs > 1000) {
      last = { stored, messages: await read(), atMs: performance.now() }
    }
    return last.messages
  }
}

async function countIncomplete(db: Db, accountId: string): Promise<number> {
  const rows = await db.read
    .selectFrom('messages')
    .select('id')
    .where('accountId', '=', accountId)
    .where((eb) => eb.or([eb('goneAt', 'is not', null), eb('uid', 'is', null)]))
    .execute()
  return rows.length
}

export async function connected(service: SyncService, accountId: string): Promise<void> {
  await eventually(async () => expect(await service.accounts.get(accountId)).toMatchObject({ status: 'connected' }))
}
