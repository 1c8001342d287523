import { describe, expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { databases } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { delivered, strictAccount } from '../../../../test/kit/mailbox/strict-account.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { mail } from '../../../../test/kit/mailbox/synced-mailbox.ts'

const open = databases('sqlite')
const received = new Date('2026-03-01T10:00:00Z')
const LINE = 'X-OfflineIMAP: x123-Work'
const DAY = 86_400_000

describe('a message that another client copies to a folder', () => {
  it.each([
    ['the same header and date', undefined, received, true],
    ['the same header and another date', undefined, undefined, true],
    ['a header line and the same date', LINE, received, true],
    ['a header line and another date', LINE, undefined, true],
    ['a header line, another date, and an original of an earlier version', LINE, undefined, false],
  ])('is moved when the original is deleted after a sync: %s', async (_case, line, internalDate, hasTrace) => {
    const original = delivered('a', 'ann@y')
    const { folder, inbox, same, announced, findId, events, db } = await strictAccount(open, {
      before: ({ folder }) => folder('INBOX').add(original, { internalDate: received }),
    })
    const before = await findId('a')
    if (!hasTrace) await db.transaction((tx) => tx.updateTable('messages').set({ traceHash: null }).execute())
    folder('Work').add(delivered('a', 'ann@y', line), internalDate && { internalDate })
    await same('INBOX/a', 'Work/a')
    inbox.remove('<a@x>')
    await same('Work/a')
    expect(await findId('a')).toBe(before)
    const types = (await events()).map(({ type }) => type).filter((type) => type.startsWith('message.'))
    expect(types).toEqual(['message.updated'])
    expect(await announced()).toEqual([])
  })

  it('is moved with many others at once', async () => {
    const ids = Array.from({ length: 250 }, (_, n) => `m${n}`)
    const { folder, inbox, same, announced, stored } = await strictAccount(open, {
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
    const { folder, same, announced, events } = await strictAccount(open, {
      before: ({ folder }) => folder('INBOX').add(delivered('a', 'ann@y'), { internalDate: received }),
    })
    folder('Work').add(delivered('a', 'ann@y', LINE))
    await same('INBOX/a', 'Work/a')
    folder('INBOX').add(delivered('b', 'ann@y'))
    await same('INBOX/a', 'INBOX/b', 'Work/a')
    expect(await announced()).toEqual(['<b@x>'])
    expect((await events()).filter(({ type }) => type.startsWith('message.'))).toHaveLength(1)
  })

  it('is moved back the same way', async () => {
    const { folder, inbox, same, announced, findId } = await strictAccount(open, {
      before: ({ folder }) => folder('INBOX').add(delivered('a', 'ann@y'), { internalDate: received }),
    })
    const before = await findId('a')
    folder('Work').add(delivered('a', 'ann@y', LINE))
    await same('INBOX/a', 'Work/a')
    inbox.remove('<a@x>')
    await same('Work/a')
    inbox.add(delivered('a', 'ann@y', `${LINE}-2`), { internalDate: new Date('2026-03-02T10:00:00Z') })
    await same('INBOX/a', 'Work/a')
    folder('Work').remove('<a@x>')
    await same('INBOX/a')
    expect(await findId('a')).toBe(before)
    expect([await announced(), await announced('message.deleted')]).toEqual([[], []])
  })

  it('is announced once when sync reads the copy before the original', async () => {
    const { folder, inbox, same, announced, findId } = await strictAccount(open)
    folder('Work').add(delivered('a', 'ann@y', LINE))
    await same('Work/a')
    const before = await findId('a')
    inbox.add(delivered('a', 'ann@y'), { internalDate: received })
    await same('INBOX/a', 'Work/a')
    inbox.remove('<a@x>')
    await same('Work/a')
    expect(await findId('a')).toBe(before)
    expect(await announced()).toEqual(['<a@x>'])
  })

  it('is moved at once, although deletions wait', async () => {
    const { folder, inbox, same, announced, findId } = await strictAccount(open, {
      before: ({ folder }) => folder('INBOX').add(delivered('a', 'ann@y'), { internalDate: received }),
      timing: { folderMoveGraceMs: DAY },
    })
    const before = await findId('a')
    folder('Work').add(delivered('a', 'ann@y', LINE))
    await same('INBOX/a', 'Work/a')
    inbox.remove('<a@x>')
    await same('Work/a')
    expect(await findId('a')).toBe(before)
    expect(await announced('message.updated')).toEqual(['<a@x>'])
  })
})

describe('a message that another client saves twice in one folder', () => {
  it('is announced once, and keeps its id when the first is deleted', async () => {
    const { inbox, same, announced, findId } = await strictAccount(open)
    inbox.add(delivered('a', 'ann@y'))
    await same('INBOX/a')
    const before = await findId('a')
    inbox.add(delivered('a', 'ann@y', LINE))
    await same('INBOX/a', 'INBOX/a')
    inbox.remove('<a@x>')
    await same('INBOX/a')
    expect(await findId('a')).toBe(before)
    for (const type of ['message.deleted', 'message.updated']) expect(await announced(type)).toEqual([])
    expect(await announced()).toEqual(['<a@x>'])
  })

  it.each([
    ['delivered to two addresses', delivered('a', 'ann@y'), delivered('a', 'sales@y')],
    ['of which nothing shows a delivery', mail('a'), mail('a')],
  ])('is two messages: %s', async (_case, first, second) => {
    const { inbox, same, announced } = await strictAccount(open)
    inbox.add(first)
    await same('INBOX/a')
    inbox.add(second)
    await same('INBOX/a', 'INBOX/a')
    inbox.remove('<a@x>')
    await same('INBOX/a')
    expect(await announced()).toEqual(['<a@x>', '<a@x>'])
    expect(await announced('message.deleted')).toEqual(['<a@x>'])
  })
})

/** As programs do that sync one folder after another. */
describe('a message that another client deletes before it saves it in another folder', () => {
  const inboxWithMessage = (folderMoveGraceMs: number, pollMs = 300) =>
    strictAccount(open, {
      before: ({ folder }) => folder('INBOX').add(delivered('a', 'ann@y'), { internalDate: received }),
      timing: { folderMoveGraceMs, pollMs },
    })

  it('is moved, although complete syncs found it nowhere', async () => {
    const { folder, inbox, same, announced, findId, missing, service, accountId } = await inboxWithMessage(DAY)
    const before = await findId('a')
    inbox.remove('<a@x>')
    await missing('a')
    for (let round = 0; round < 3; round += 1) await service.synced(accountId)
    folder('Work').add(delivered('a', 'ann@y', LINE))
    await same('Work/a')
    expect(await findId('a')).toBe(before)
    expect([await announced(), await announced('message.deleted')]).toEqual([[], []])
    expect(await announced('message.updated')).toEqual(['<a@x>'])
  })

  it('is moved, although the service was restarted in between', async () => {
    const { db, folder, inbox, same, announced, findId, missing, service, accountId } = await inboxWithMessage(DAY)
    const before = await findId('a')
    inbox.remove('<a@x>')
    await missing('a')
    await service.stop()
    const options = { settings: { folders: ['Work'] }, timing: { folderMoveGraceMs: DAY, pollMs: 300 } }
    const next = syncService(db, { ...options, owning: { roundMs: 100, deadAfterMs: 400, settleMs: 0 } })
    closing({ close: () => next.stop() })
    await next.start()
    await next.synced(accountId)
    folder('Work').add(delivered('a', 'ann@y', LINE))
    await same('Work/a')
    expect(await findId('a')).toBe(before)
    expect([await announced(), await announced('message.deleted')]).toEqual([[], []])
  })

  it('is deleted soon when no folder gets it, without waiting for the next poll', async () => {
    const { inbox, announced, missing, same } = await inboxWithMessage(500, 600_000)
    inbox.remove('<a@x>')
    await missing('a')
    await eventually(async () => expect(await announced('message.deleted')).toEqual(['<a@x>']))
    await same()
  })
})
