import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { databases } from '../../../../test/kit/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { announced, mailEvents } from '../../../../test/kit/mailbox-state.ts'
import { syncService } from '../../../../test/kit/sync.ts'
import { connected, mail } from '../../../../test/kit/synced-mailbox.ts'
import { type StrictImap, type StrictImapOptions, startStrictImap } from '../../../../test/servers/strict-imap.ts'

const open = databases('sqlite')
const FOLDERS = ['Work']

interface Options extends StrictImapOptions {
  before?(imap: StrictImap): void
  mailbox?: string
  synced?: string[]
}

/** An account of a strict server, in sync. */
async function strictAccount({ before, mailbox, synced = FOLDERS, ...options }: Options = {}) {
  const imap = await startStrictImap({ folders: FOLDERS, ...options })
  closing(imap.server)
  before?.(imap)
  const db = await open()
  const service = syncService(db, { timing: { pollMs: 300 }, settings: { folders: synced } })
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
    ...{ ...imap, db, service, accountId, stored },
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
    async idOf(subject: string): Promise<string | undefined> {
      return (await stored()).find((row) => row.subject === subject)?.id
    },
  }
}

it('announces the mail of a server that was restored from a backup, and the deletion of what it lacks', async () => {
  const { inbox, server, same, announced, idOf } = await strictAccount({
    before: ({ folder }) => folder('INBOX').add(mail('a')),
  })
  const backup = inbox.backup()
  inbox.add(mail('b'))
  await same('INBOX/a', 'INBOX/b')
  const before = await idOf('a')
  server.disconnect()
  inbox.restore(backup)
  inbox.add(mail('c'))
  await same('INBOX/a', 'INBOX/c')
  expect(await announced()).toEqual(['<b@x>', '<c@x>'])
  expect(await announced('message.deleted')).toEqual(['<b@x>'])
  expect(await idOf('a')).toBe(before)
})

/** As mbsync writes the message: with a header line of its own. */
const withLine = (id: string) => mail(id, { headers: ['X-TUID: AbCdEfGhIjKl'] })
const received = new Date('2026-03-01T10:00:00Z')

it.each([
  ['the new folder first', true, received],
  ['the old folder first', false, received],
  ['the new folder first, with another date', true, undefined],
  ['the old folder first, with another date', false, undefined],
])(
  'a message that another client copies with a header line and deletes is moved: %s',
  async (_case, isCopiedFirst, internalDate) => {
    const { folder, inbox, same, announced, idOf, events } = await strictAccount({
      before: ({ folder }) => folder('INBOX').add(mail('a'), { internalDate: received }),
    })
    const before = await idOf('a')
    const copy = () => folder('Work').add(withLine('a'), internalDate && { internalDate })
    if (isCopiedFirst) {
      copy()
      inbox.remove('<a@x>')
    } else {
      inbox.remove('<a@x>')
      copy()
    }
    await same('Work/a')
    expect(await idOf('a')).toBe(before)
    expect(await announced()).toEqual([])
    const types = (await events()).map(({ type }) => type).filter((type) => type.startsWith('message.'))
    expect(types).toEqual(['message.updated'])
  },
)

it('a folder that another client deletes and makes again announces what arrives in it', async () => {
  const account = await strictAccount({
    before: ({ folder }) => folder('Work').add(mail('old'), { internalDate: received }),
    synced: ['own'],
    mailbox: 'Work',
  })
  await account.same('Work/old')
  account.delete('Work')
  await eventually(async () => expect(await account.stored()).toMatchObject([{ goneAt: expect.any(Number) }]))
  account.folder('Work').add(mail('a'))
  await account.same('Work/a')
  account.folder('Work').add(mail('b'))
  await account.same('Work/a', 'Work/b')
  expect(await account.announced()).toEqual(['<a@x>', '<b@x>'])
})

it('a server that stores UIDs only when a folder is opened for changes announces every message once', async () => {
  const { folder, inbox, same, announced, idOf, db } = await strictAccount({
    storesOnSelect: true,
    withoutQresync: true,
    before: ({ folder }) => {
      for (const path of ['INBOX', 'Work']) folder(path).add(mail(`old-${path}`), { internalDate: received })
    },
  })
  await same('INBOX/old-INBOX', 'Work/old-Work')
  const before = await idOf('old-Work')
  for (const path of ['INBOX', 'Work']) folder(path).add(mail(`new-${path}`))
  await same('INBOX/old-INBOX', 'INBOX/new-INBOX', 'Work/old-Work', 'Work/new-Work')
  inbox.remove('<old-INBOX@x>')
  await same('INBOX/new-INBOX', 'Work/old-Work', 'Work/new-Work')
  expect(await announced()).toEqual(['<new-INBOX@x>', '<new-Work@x>'])
  expect(await idOf('old-Work')).toBe(before)
  await eventually(async () => {
    const rows = db.read
      .selectFrom('syncCursors')
      .innerJoin('labels', 'labels.id', 'labelId')
      .select(['providerId', 'uidValidity'])
    for (const { providerId, uidValidity } of await rows.execute()) {
      expect(uidValidity).toBe(String(folder(providerId).uidValidity))
    }
  })
  expect(await announced()).toEqual(['<new-INBOX@x>', '<new-Work@x>'])
})
