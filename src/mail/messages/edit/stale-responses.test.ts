import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Databases, describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { HeldTransactions } from '../../../../test/kit/database/held-transactions.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { HeldReads } from '../../../../test/kit/mailbox/held-reads.ts'
import { HeldResponse } from '../../../../test/kit/mailbox/held-response.ts'
import { syncedDouble } from '../../../../test/kit/mailbox/synced-double.ts'
import { syncedMailbox } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { messageApi } from '../../../../test/kit/messages/message-api.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import type { FolderMailProvider } from '../../../providers/contract/index.ts'
import { imapProvider } from '../../../providers/imap/provider.ts'

describeEachDatabase('a response of the provider that is older than what is known', (open) => {
  it.each(['whole', 'folders'] as const)(
    'does not undo a later change that made the message as it was (%s)',
    async (kind) => {
      const { api, ids, same, emitted, heldPatch } = await heldMailbox(kind, open)
      const { a = '' } = await ids()
      const first = await heldPatch(a, { labelIds: ['Work'], starred: true })
      expect((await api.patch(a, { labelIds: ['INBOX'], starred: false })).status).toBe(200)

      expect(await first()).toMatchObject({ status: 200, json: { folder: 'INBOX', starred: false } })
      await same()
      expect(await emitted()).toEqual([])
    },
  )

  it.each(['whole', 'folders'] as const)(
    'does not undo what another program changed back and sync has read (%s)',
    async (kind) => {
      const { box, ids, same, sync, emitted, heldPatch } = await heldMailbox(kind, open)
      const { a = '', b = '' } = await ids()
      const first = await heldPatch(a, { labelIds: ['Work'] })
      box.set('a', { folders: ['INBOX'] })
      await sync()
      expect(await first()).toMatchObject({ status: 200, json: { folder: 'INBOX' } })
      const second = await heldPatch(b, { starred: true })
      box.set('b', { starred: false })
      await sync()
      expect(await second()).toMatchObject({ status: 200, json: { starred: false } })
      await same()
      expect(await emitted()).toEqual([])
    },
  )

  it('does not undo what sync has read in a step that it still stores', async () => {
    const many = Array.from({ length: 250 }, (_, index) => `m${String(index).padStart(3, '0')}`)
    const parts = new HeldTransactions()
    const { box, service, accountId, ids, same, emitted, heldPatch } = await heldMailbox('whole', open, { many, parts })
    box.pageSize = 1000
    const { m000 = '' } = await ids()
    const first = await heldPatch(m000, { starred: true })
    for (const id of many) box.set(id, { starred: false, unread: id === 'm000' })
    parts.holdSecond()
    await service.wake(accountId)
    await eventually(() => expect(parts.isHeld).toBe(true))
    expect(await first()).toMatchObject({ status: 200, json: { starred: false } })
    parts.release()
    await same()
    expect((await emitted()).filter((text) => text.includes('m000'))).toEqual([])
  })

  it('is no error when the message cannot be read again: a sync follows', async () => {
    const { box, sync, ids, heldPatch } = await heldMailbox('whole', open)
    const { a = '', b = '' } = await ids()
    const first = await heldPatch(a, { starred: true })
    box.set('a', { starred: false })
    await sync()
    box.remove('a')
    expect((await first()).status).toBe(200)
    await eventually(async () => expect(await ids()).toEqual({ b }))
  })
})

describe.skipIf(!dovecotAvailable())('a response of an IMAP server that is older than what is known', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeEachDatabase('in a mailbox on Dovecot', (open) => {
    async function heldOnDovecot(reportsNewUid = true) {
      const response = new HeldResponse()
      const reads = new HeldReads()
      const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
      const reporting = reportsNewUid ? mail : withoutNewUid(mail)
      const mailbox = await syncedMailbox(server, open, {
        mail: response.folderMail(reads.folderMail(reporting)),
        before: (box) => box.deliver('a'),
      })
      const api = await messageApi(mailbox)
      const { a: [a = ''] = [] } = await mailbox.ids()
      const updates = async () =>
        (await mailbox.events()).flatMap(({ type, version }) => (type === 'message.updated' ? version : []))
      const confirmed = (meanwhile = async () => {}) =>
        eventually(async () => {
          await meanwhile()
          const row = await mailbox.db.read.selectFrom('messages').select('confirmations').executeTakeFirstOrThrow()
          expect(row.confirmations).toBeGreaterThan(0)
        })
      return {
        ...mailbox,
        a,
        reads,
        updates,
        confirmed,
        heldPatch: (body: object) => heldPatch(api, response, a, body),
      }
    }

    it('does not undo flags that another program changed back and sync has read', async () => {
      const { box, confirmed, same, updates, heldPatch: patch } = await heldOnDovecot()
      const first = await patch({ starred: true })
      await box.unflag('a', '\\Flagged')
      // Sync may have read the message in between. It confirms the row when only a flag changes that is not stored.
      await confirmed(async () => {
        await box.flag('a', 'Custom')
        await box.unflag('a', 'Custom')
      })
      expect(await first()).toMatchObject({ status: 200, json: { starred: false } })
      await same()
      const versions = await updates()
      expect(new Set(versions).size).toBe(versions.length)
    })

    it('of a move is stored even if the server did not report where the message is now', async () => {
      const { box, reads, confirmed, same, updates, heldPatch: patch } = await heldOnDovecot(false)
      // Sync has read the message before the move, and confirms its row before the response arrives.
      reads.hold()
      await box.flag('a', 'Custom')
      await eventually(() => expect(reads.held).toBeGreaterThan(0))
      const first = await patch({ labelIds: ['Archive'] })
      reads.releaseOne()
      await confirmed()
      expect(await first()).toMatchObject({ status: 200, json: { folder: 'Archive' } })
      reads.release()
      await same()
      expect(await updates()).toEqual([2])
    })
  })
})

/** As a server without UIDPLUS. Dovecot reports the new UID even if it does not offer the extension. */
function withoutNewUid(mail: FolderMailProvider): FolderMailProvider {
  return {
    ...mail,
    edits: (access) => {
      const edits = mail.edits(access)
      return {
        ...edits,
        changeMessages: async (requested) =>
          (await edits.changeMessages(requested)).map((result, index) =>
            result instanceof Error || requested[index]?.add === undefined ? result : { ...result, location: null },
          ),
      }
    },
  }
}

/** A synced mailbox with the messages a and b, or `many`. It syncs only on request. */
async function heldMailbox(
  kind: 'whole' | 'folders',
  open: Databases,
  { many = ['a', 'b'], parts = new HeldTransactions() } = {},
) {
  const response = new HeldResponse()
  const mailbox = await syncedDouble(kind, open, {
    before: (box) => box.deliverAll(many),
    mailAs: (mail) => response.idMail(mail),
    dbAs: (db) => parts.of(db),
  })
  await mailbox.same()
  const api = await messageApi(mailbox)
  const patch = (id: string, body: object) => heldPatch(api, response, id, body)
  return { ...mailbox, api, heldPatch: patch }
}

/** Sends the change, and returns how to receive the provider's response to it, and ours. */
async function heldPatch(
  api: Awaited<ReturnType<typeof messageApi>>,
  response: HeldResponse,
  id: string,
  body: object,
) {
  response.holdNext()
  const patched = api.patch(id, body)
  await eventually(() => expect(response.isHeld).toBe(true))
  return () => {
    response.release()
    return patched
  }
}
