import { describe, expect, it } from 'vitest'
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

/** As a server delivers it to one of the account's addresses. */
const delivered = (id: string, address: string, line?: string) =>
  mail(id, {
    headers: [`Received: from out.x by in.y\r\n\twith LMTP for <${address}>; Sun, 1 Mar 2026`, ...(line ? [line] : [])],
  })

describe('a message that another client copies to a folder', () => {
  const LINE = 'X-OfflineIMAP: x123-Work'
  it.each([
    ['the same header and date', undefined, received, true],
    ['the same header and another date', undefined, undefined, true],
    ['a header line and the same date', LINE, received, true],
    ['a header line and another date', LINE, undefined, true],
    ['a header line, another date, and an original of an earlier version', LINE, undefined, false],
  ])('is moved when the original is deleted after a sync: %s', async (_case, line, internalDate, hasTrace) => {
    const original = delivered('a', 'ann@y')
    const { folder, inbox, same, announced, idOf, events, db } = await strictAccount({
      before: ({ folder }) => folder('INBOX').add(original, { internalDate: received }),
    })
    const before = await idOf('a')
    if (!hasTrace) await db.transaction((tx) => tx.updateTable('messages').set({ traceHash: null }).execute())
    folder('Work').add(delivered('a', 'ann@y', line), internalDate && { internalDate })
    await same('INBOX/a', 'Work/a')
    inbox.remove('<a@x>')
    await same('Work/a')
    expect(await idOf('a')).toBe(before)
    const types = (await events()).map(({ type }) => type).filter((type) => type.startsWith('message.'))
    expect(types).toEqual(['message.updated'])
    expect(await announced()).toEqual([])
  })

  it('is moved with many others at once', async () => {
    const ids = Array.from({ length: 250 }, (_, n) => `m${n}`)
    const { folder, inbox, same, announced, stored } = await strictAccount({
      before: ({ folder }) => {
        for (const id of ids) folder('INBOX').add(delivered(id, 'ann@y'), { internalDate: received })
      },
    })
    const idsBySubject = async () => Object.fromEntries((await stored()).map(({ subject, id }) => [subject, id]))
    const before = await idsBySubject()
    for (const id of ids) folder('Work').add(delivered(id, 'ann@y', LINE))
    await same(...ids.flatMap((id) => [`INBOX/${id}`, `Work/${id}`]))
    for (const id of ids) inbox.remove(`<${id}@x>`)
    await same(...ids.map((id) => `Work/${id}`))
    expect(await idsBySubject()).toEqual(before)
    expect([await announced(), await announced('message.deleted')]).toEqual([[], []])
  })

  it('is a copy while the original stays, and is not announced', async () => {
    const { folder, same, announced, events } = await strictAccount({
      before: ({ folder }) => folder('INBOX').add(delivered('a', 'ann@y'), { internalDate: received }),
    })
    folder('Work').add(delivered('a', 'ann@y', LINE))
    await same('INBOX/a', 'Work/a')
    folder('INBOX').add(delivered('b', 'ann@y'))
    await same('INBOX/a', 'INBOX/b', 'Work/a')
    expect(await announced()).toEqual(['<b@x>'])
    expect((await events()).filter(({ type }) => type.startsWith('message.'))).toHaveLength(1)
  })
})

it.each([
  ['the same date', received],
  ['another date', undefined],
])('a message that was sent to two addresses is announced twice, and deleted by itself: %s', async (_case, date) => {
  const { folder, inbox, same, announced } = await strictAccount()
  inbox.add(delivered('a', 'ann@y'), { internalDate: received })
  await same('INBOX/a')
  folder('Work').add(delivered('a', 'sales@y'), date && { internalDate: date })
  await same('INBOX/a', 'Work/a')
  expect(await announced()).toEqual(['<a@x>', '<a@x>'])
  inbox.remove('<a@x>')
  await same('Work/a')
  expect(await announced('message.deleted')).toEqual(['<a@x>'])
  expect(await announced()).toEqual(['<a@x>', '<a@x>'])
})

it('a message that is sent while its draft is still stored is announced as sent, once', async () => {
  const { folder, same, announced } = await strictAccount({
    synced: [],
    folders: ['Drafts', 'Sent'],
    before: ({ folder }) => folder('Drafts').add(mail('a'), { internalDate: received, flags: ['\\Draft'] }),
  })
  folder('Sent').add(withLine('a'))
  await same('Drafts/a', 'Sent/a')
  expect(await announced('message.sent')).toEqual(['<a@x>'])
  folder('Drafts').remove('<a@x>')
  await same('Sent/a')
  expect(await announced('message.sent')).toEqual(['<a@x>'])
})

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
