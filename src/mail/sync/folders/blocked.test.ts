import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { databases } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { strictAccount } from '../../../../test/kit/mailbox/strict-account.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { mail } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import type { StrictImap } from '../../../../test/servers/strict-imap.ts'
import type { Db } from '../../../platform/db/index.ts'

const open = databases('sqlite')
/** Pauses that do not end. */
const NEVER = { baseMs: 600_000, capMs: 600_000 }
const HOUR_MS = 3_600_000

const withOld = ({ folder }: StrictImap) => folder('INBOX').add(mail('old'))

function items(db: Db, accountId: string, kind: 'message' | 'folder' = 'message') {
  return db.read
    .selectFrom('unreadableItems')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('kind', '=', kind)
    .execute()
}

/** Lets the messages that could not be read be read again: these first, in this order. */
async function letBeRead(db: Db, ...uids: number[]): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.updateTable('unreadableItems').set({ nextAttemptAt: uids.length }).execute()
    for (const [nextAttemptAt, uid] of uids.entries()) {
      await tx.updateTable('unreadableItems').set({ nextAttemptAt }).where('itemId', 'like', `%.${uid}`).execute()
    }
  })
}

it('one message is read again while the server returns none', async () => {
  const account = await strictAccount(open, { timing: { itemRetry: NEVER }, before: withOld })
  const { inbox, spoil, lines, db, service, accountId, announced } = account
  for (const id of ['p', 'q', 'r']) spoil(`<${id}@x>`, 'refuse')
  for (const id of ['p', 'q', 'r', 'a']) inbox.add(mail(id))
  await eventually(async () => expect(await announced()).toEqual(['<a@x>']))
  expect(await items(db, accountId)).toHaveLength(3)
  spoil('Subject', 'refuse')
  await letBeRead(db)
  lines.length = 0
  await service.synced(accountId)
  const asked = lines.flatMap((line) => /^UID FETCH ([234]) /.exec(line)?.[1] ?? [])
  expect(new Set(asked).size).toBe(1)
})

it('no other message is read again after one for which the server does not respond', async () => {
  const account = await strictAccount(open, {
    timing: { itemRetry: NEVER },
    limits: { readMs: 1500 },
    before: withOld,
  })
  const { inbox, spoil, lines, db, service, accountId, announced } = account
  for (const id of ['p', 'q']) spoil(`<${id}@x>`, 'refuse')
  for (const id of ['p', 'q', 'a']) inbox.add(mail(id))
  await eventually(async () => expect(await announced()).toEqual(['<a@x>']))
  expect(await items(db, accountId)).toHaveLength(2)
  for (const id of ['p', 'q']) spoil(`<${id}@x>`, 'hang')
  await letBeRead(db)
  lines.length = 0
  await service.synced(accountId)
  const asked = lines.flatMap((line) => /^UID FETCH ([23]) /.exec(line)?.[1] ?? [])
  expect(new Set(asked).size).toBe(1)
})

it('a copy whose original is in a folder that cannot be read stops no other message', async () => {
  const account = await strictAccount(open, {
    timing: { itemRetry: NEVER },
    before(imap) {
      withOld(imap)
      imap.folder('Work').add(mail('w'))
    },
  })
  const { inbox, spoil, spoilFolder, db, service, accountId, announced } = account
  for (const id of ['w', 'p']) spoil(`<${id}@x>`, 'refuse')
  for (const id of ['w', 'p', 'a']) inbox.add(mail(id))
  await eventually(async () => expect(await announced()).toEqual(['<a@x>']))
  expect(await items(db, accountId)).toHaveLength(2)
  for (const id of ['w', 'p']) spoil(`<${id}@x>`, undefined)
  spoilFolder('Work', 'close')
  await letBeRead(db, 2, 3)
  await service.wake(accountId)
  await eventually(async () => expect(await announced()).toEqual(['<a@x>', '<p@x>']))
  expect(await items(db, accountId)).toMatchObject([{ itemId: expect.stringMatching(/\.2$/) }])
})

it('a message that fails again in a folder that is read anew is not forgotten', async () => {
  const account = await strictAccount(open, { timing: { itemRetry: NEVER }, before: withOld })
  const { inbox, spoil, db, service, accountId, announced, same } = account
  spoil('<p@x>', 'refuse')
  for (const id of ['p', 'a']) inbox.add(mail(id))
  await eventually(async () => expect(await announced()).toEqual(['<a@x>']))
  const backup = inbox.backup()
  inbox.add(mail('b'))
  await same('INBOX/old', 'INBOX/a', 'INBOX/b')
  inbox.restore(backup)
  await same('INBOX/old', 'INBOX/a')
  expect(await items(db, accountId)).toHaveLength(1)
  spoil('<p@x>', undefined)
  await letBeRead(db)
  await service.wake(accountId)
  await same('INBOX/old', 'INBOX/a', 'INBOX/p')
})

it('a moved message that cannot be read at first is found before its row is deleted', async () => {
  const timing = { pollMs: 300, itemRetry: NEVER, folderMoveGraceMs: HOUR_MS }
  const account = await strictAccount(open, {
    timing,
    before(imap) {
      withOld(imap)
      imap.folder('INBOX').add(mail('p'))
    },
  })
  const { folder, inbox, spoil, db, service, accountId, missing, same, findId, announced } = account
  const id = await findId('p')
  spoil('<p@x>', 'refuse')
  folder('Work').add(mail('p'), { internalDate: inbox.find('<p@x>').internalDate })
  inbox.remove('<p@x>')
  await missing('p')
  await eventually(async () => expect(await items(db, accountId)).toHaveLength(1))
  await service.stop()
  spoil('<p@x>', undefined)
  await letBeRead(db)
  await db.transaction((tx) => tx.updateTable('messages').set({ goneAt: 1 }).where('goneAt', 'is not', null).execute())
  const next = syncService(db, { timing, settings: { folders: ['Work'] } })
  closing({ close: () => next.stop() })
  await next.start()
  await same('INBOX/old', 'Work/p')
  expect([await findId('p'), await announced('message.deleted')]).toEqual([id, []])
})

it('a folder that the server throttles waits, and the others do not', async () => {
  const { folder, inbox, spoilFolder, db, accountId, announced } = await strictAccount(open, {
    timing: { itemRetry: NEVER },
  })
  spoilFolder('Work', 'limit')
  folder('Work').add(mail('w'))
  inbox.add(mail('a'))
  await eventually(async () => expect(await items(db, accountId, 'folder')).toHaveLength(1))
  await eventually(async () => expect(await announced()).toEqual(['<a@x>']))
})
