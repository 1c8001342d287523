import { expect, it } from 'vitest'
import { databases } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { delivered, strictAccount } from '../../../../test/kit/mailbox/strict-account.ts'
import { mail } from '../../../../test/kit/mailbox/synced-mailbox.ts'

const open = databases('sqlite')

it('announces the mail of a server that was restored from a backup, and the deletion of what it lacks', async () => {
  const { inbox, server, same, announced, findId } = await strictAccount(open, {
    before: ({ folder }) => folder('INBOX').add(mail('a')),
  })
  const backup = inbox.backup()
  inbox.add(mail('b'))
  await same('INBOX/a', 'INBOX/b')
  const before = await findId('a')
  server.disconnect()
  inbox.restore(backup)
  inbox.add(mail('c'))
  await same('INBOX/a', 'INBOX/c')
  expect(await announced()).toEqual(['<b@x>', '<c@x>'])
  expect(await announced('message.deleted')).toEqual(['<b@x>'])
  expect(await findId('a')).toBe(before)
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
    const { folder, inbox, same, announced, findId, events } = await strictAccount(open, {
      before: ({ folder }) => folder('INBOX').add(mail('a'), { internalDate: received }),
    })
    const before = await findId('a')
    const copy = () => folder('Work').add(withLine('a'), internalDate && { internalDate })
    if (isCopiedFirst) {
      copy()
      inbox.remove('<a@x>')
    } else {
      inbox.remove('<a@x>')
      copy()
    }
    await same('Work/a')
    expect(await findId('a')).toBe(before)
    expect(await announced()).toEqual([])
    const types = (await events()).map(({ type }) => type).filter((type) => type.startsWith('message.'))
    expect(types).toEqual(['message.updated'])
  },
)

it.each([
  ['the same date', received],
  ['another date', undefined],
])('a message that was sent to two addresses is announced twice, and deleted by itself: %s', async (_case, date) => {
  const { folder, inbox, same, announced } = await strictAccount(open)
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
  const { folder, same, announced } = await strictAccount(open, {
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
  const account = await strictAccount(open, {
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
  const { folder, inbox, same, announced, findId, db } = await strictAccount(open, {
    storesOnSelect: true,
    withoutQresync: true,
    before: ({ folder }) => {
      for (const path of ['INBOX', 'Work']) folder(path).add(mail(`old-${path}`), { internalDate: received })
    },
  })
  await same('INBOX/old-INBOX', 'Work/old-Work')
  const before = await findId('old-Work')
  for (const path of ['INBOX', 'Work']) folder(path).add(mail(`new-${path}`))
  await same('INBOX/old-INBOX', 'INBOX/new-INBOX', 'Work/old-Work', 'Work/new-Work')
  inbox.remove('<old-INBOX@x>')
  await same('INBOX/new-INBOX', 'Work/old-Work', 'Work/new-Work')
  expect(await announced()).toEqual(['<new-INBOX@x>', '<new-Work@x>'])
  expect(await findId('old-Work')).toBe(before)
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
