import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { databases, describeEachDatabase } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { syncedDouble } from '../../../test/kit/mailbox/synced-double.ts'
import { mail, syncedMailbox } from '../../../test/kit/mailbox/synced-mailbox.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { otherClient } from '../../../test/servers/imap-mailbox.ts'

const PASSWORD = 'one'

describe.skipIf(!dovecotAvailable())('a draft that a mail program edits over IMAP', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeEachDatabase('by saving a new version', (open) => {
    async function withDraft() {
      const synced = await syncedMailbox(server, open)
      const save = (subject: string, more = {}) =>
        otherClient(server, synced.user, PASSWORD, async (client) => {
          const saved = await client.append('Drafts', mail('d', { subject, ...more }), ['\\Draft', '\\Seen'])
          return saved === false ? undefined : saved.uid
        })
      const remove = (uid: number | undefined) =>
        otherClient(server, synced.user, PASSWORD, async (client) => {
          await client.mailboxOpen('Drafts')
          await client.messageDelete(String(uid), { uid: true })
        })
      /** At once, because a draft that is missing for seconds counts as deleted. */
      const replace = (uid: number | undefined, subject: string) =>
        otherClient(server, synced.user, PASSWORD, async (client) => {
          await client.mailboxOpen('Drafts')
          await client.messageDelete(String(uid), { uid: true })
          await client.append('Drafts', mail('d', { subject }), ['\\Draft', '\\Seen'])
        })
      const emitted = async () =>
        (await synced.events())
          .filter((event) => event.type !== 'mailbox.changed')
          .map(({ type, version, data }) => `${type} ${data.subject} ${version}`)
      const first = await save('one')
      await synced.same()
      return { ...synced, save, remove, replace, emitted, first }
    }

    it('keeps its id, with one `draft.updated`, whether the old version is deleted before or after', async () => {
      const { save, remove, replace, first, same, ids, emitted, events, service, accountId } = await withDraft()
      const before = await ids()
      const second = await save('two')
      await service.synced(accountId)
      await remove(first)
      await same()
      await replace(second, 'three')
      await same()
      expect(await ids()).toEqual(before)
      expect(await emitted()).toEqual(['draft.created one 1', 'draft.updated two 2', 'draft.updated three 3'])
      const id = before.d?.[0] ?? ''
      expect(id).toMatch(/^msg_/)
      for (const event of (await events()).filter(({ type }) => type.startsWith('draft.')))
        expect(event).toMatchObject({ objectId: id, data: { draftId: id.replace('msg_', 'drf_') } })
    })

    it('takes the newest of several versions that appear at once, and ends with its deletion', async () => {
      const { save, remove, first, same, ids, emitted } = await withDraft()
      const before = await ids()
      const second = await save('two')
      const third = await save('three')
      await remove(first)
      await remove(second)
      await same()
      expect(await ids()).toEqual(before)
      expect((await emitted()).at(-1)).toMatch(/^draft.updated three [23]$/)
      await remove(third)
      await same()
      expect(await ids()).toEqual({})
      expect((await emitted()).at(-1)).toMatch(/^draft.deleted three [34]$/)
    })

    it('is another draft under another Message-ID', async () => {
      const { save, same, ids, emitted } = await withDraft()
      await save('two', { messageId: '<e@x>' })
      await same()
      expect(Object.keys(await ids())).toEqual(['d', 'e'])
      expect(await emitted()).toEqual(['draft.created one 1', 'draft.created two 1'])
    })
  })
})

describe('a draft that another program edits at Gmail', () => {
  const open = databases('sqlite')
  const at = (subject: string) => ({ folders: ['DRAFT'], subject, parsed: { draftId: 'r1' } })

  it('keeps its id, with one `draft.updated` and no other event', async () => {
    const { box, same, ids, emitted, sync } = await syncedDouble('whole', open)
    box.deliver('m1', at('one'))
    await same()
    const before = await ids()
    box.remove('m1')
    box.deliver('m2', at('two'))
    await same()
    await sync()
    expect(Object.values(await ids())).toEqual(Object.values(before))
    expect(await emitted()).toEqual(['draft.created m1 1', 'draft.updated m2 2'])
    box.remove('m2')
    await same()
    await eventually(async () => expect((await emitted()).at(-1)).toBe('draft.deleted m2 3'))
  })

  it('ends when it is sent, and the sent message is another one', async () => {
    const { box, same, emitted } = await syncedDouble('whole', open)
    box.deliver('m1', at('one'))
    await same()
    box.remove('m1')
    box.deliver('m2', { folders: ['SENT'], subject: 'one' })
    await same()
    expect((await emitted()).sort()).toEqual(['draft.created m1 1', 'draft.deleted m1 2', 'message.sent m2 1'])
  })
})
