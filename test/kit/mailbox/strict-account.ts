import { expect } from 'vitest'
import { type StrictImap, type StrictImapOptions, startStrictImap } from '../../servers/strict-imap.ts'
import { closing } from '../closing.ts'
import type { Databases } from '../database/database.ts'
import { eventually } from '../eventually.ts'
import { announced, mailEvents } from './mailbox-state.ts'
import { type SyncServiceOptions, syncService } from './sync.ts'
import { connected, mail } from './synced-mailbox.ts'

const FOLDERS = ['Work']

interface StrictAccountOptions extends StrictImapOptions {
  before?(imap: StrictImap): void
  mailbox?: string
  synced?: string[]
  timing?: SyncServiceOptions['timing']
  limits?: SyncServiceOptions['imap']
}

/** An account of a strict server, in sync. */
export async function strictAccount(
  open: Databases,
  { before, mailbox, synced = FOLDERS, timing, limits = {}, ...options }: StrictAccountOptions = {},
) {
  const imap = await startStrictImap({ folders: FOLDERS, ...options })
  closing(imap.server)
  before?.(imap)
  const db = await open()
  const service = syncService(db, {
    timing: { pollMs: 300, ...timing },
    settings: { folders: synced },
    imap: limits,
  })
  closing({ close: () => service.stop() })
  const { host = '', port: imapsPort = 0 } = imap.server.access.settings.imap ?? {}
  const accountId = await service.link({ host, imapsPort }, 'ann', 'secret', mailbox)
  await service.start()
  await connected(service, accountId)
  const stored = async () => {
    const rows = db.read
      .selectFrom('messages')
      .innerJoin('labels', 'labels.id', 'messages.folderId')
      .select(['messages.id', 'subject', 'providerId as folder', 'goneAt', 'uid'])
      .where('messages.accountId', '=', accountId)
      .orderBy('subject')
    return rows.execute()
  }
  return {
    ...imap,
    db,
    service,
    accountId,
    stored,
    inbox: imap.folder('INBOX'),
    announced: (type?: string) => announced(db, accountId, type),
    events: () => mailEvents(db, accountId),
    /** Waits until exactly these messages are stored, as `folder/subject`, and none of them awaits anything. */
    async same(...messages: string[]): Promise<void> {
      await eventually(async () => {
        const rows = await stored()
        expect(rows.map(({ folder, subject }) => `${folder}/${subject}`).sort()).toEqual([...messages].sort())
        expect(rows.filter(({ uid, goneAt }) => uid === null || goneAt !== null)).toEqual([])
      })
    },
    /** Waits until sync has seen that this message left its folder, or has deleted it. */
    async missing(subject: string): Promise<void> {
      await eventually(async () => {
        const rows = (await stored()).filter((row) => row.subject === subject)
        expect(rows.filter(({ goneAt }) => goneAt === null)).toEqual([])
      })
    },
    async findId(subject: string): Promise<string | undefined> {
      return (await stored()).find((row) => row.subject === subject)?.id
    },
  }
}

/** As a server delivers it to one of the account's addresses. */
export const delivered = (id: string, address: string, line?: string) =>
  mail(id, {
    headers: [`Received: from out.x by in.y\r\n\twith LMTP for <${address}>; Sun, 1 Mar 2026`, ...(line ? [line] : [])],
  })
