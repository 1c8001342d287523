import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { nextSecond } from '../../../../test/kit/mailbox/next-second.ts'
import { type SyncServiceOptions, syncService } from '../../../../test/kit/mailbox/sync.ts'
import { syncedMailbox } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import type { Db } from '../../../platform/db/index.ts'

const OWN = { settings: { folders: ['own'] } }

describe.skipIf(!dovecotAvailable())('the folders Archive, Junk and Trash', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeEachDatabase('of an account', (open) => {
    it('keep the id of an archived, binned, reported or restored message, with one `message.updated` each', async () => {
      const { box, same, ids, received, events } = await syncedMailbox(server, open)
      await box.deliver('a')
      await received('a')
      const before = await ids()
      const route = ['Archive', 'INBOX', 'Trash', 'INBOX', 'Junk', 'INBOX']
      for (const [index, to] of route.entries()) {
        await box.move('a', to, route[index - 1] ?? 'INBOX')
        await same()
      }
      expect(await ids()).toEqual(before)
      await received('a')
      const messages = (await events()).filter((event) => event.type.startsWith('message.'))
      expect(messages.map(({ type, objectId, data }) => `${type} ${objectId} ${data.folder}`)).toEqual(
        ['INBOX', ...route].map((folder, index) => {
          return `${index === 0 ? 'message.received' : 'message.updated'} ${before.a?.[0]} ${folder}`
        }),
      )
      expect(new Set(messages.map(({ data }) => String(data.labelIds))).size).toBe(4)
    })

    it('emit only draft events for a message in Drafts', async () => {
      const { box, same, events } = await syncedMailbox(server, open)
      await box.put('Drafts', 'discarded', 'sent')
      await same()
      await box.flag('discarded', '\\Flagged', 'Drafts')
      await same()
      await box.move('discarded', 'Trash', 'Drafts')
      await same()
      await box.move('discarded', 'Drafts', 'Trash')
      await same()
      await box.expunge('discarded', 'Drafts')
      await same()
      await box.move('sent', 'Sent', 'Drafts')
      await same()
      const emitted = (await events()).filter((event) => event.type !== 'mailbox.changed')
      expect(emitted.map(({ type, version, data }) => `${type} ${data.subject} ${version}`)).toEqual([
        'draft.created discarded 1',
        'draft.created sent 1',
        'draft.updated discarded 2',
        'draft.deleted discarded 3',
        'draft.created discarded 4',
        'draft.deleted discarded 5',
        'draft.deleted sent 2',
        'message.sent sent 2',
      ])
    })

    it('are not synced when `sync.folders` is "own"', async () => {
      const { db, accountId, box, received, announced } = await syncedMailbox(server, open, OWN)
      await box.deliver('a')
      await received('a')
      await box.move('a', 'Trash')
      await eventually(async () => expect(await announced('message.deleted')).toEqual(['<a@x>']))
      expect(await syncedFolders(db, accountId)).toEqual(['INBOX'])
    })

    it('announce no message from before they were synced, when the setting changes', async () => {
      const mailbox = await syncedMailbox(server, open, {
        ...OWN,
        before: (box) => box.put('Archive', 'old-1').then(() => box.put('Sent', 'old-2')),
      })
      const { db, accountId, box, same, received, announced } = mailbox
      let { service } = mailbox
      const restart = async (options: SyncServiceOptions = {}) => {
        await service.stop()
        service = syncService(db, { timing: { pollMs: 400 }, ...options })
        onTestFinished(() => service.stop())
        await service.start()
        await service.synced(accountId)
      }
      await restart()
      await same()
      await restart(OWN)
      await eventually(async () => expect(await syncedFolders(db, accountId)).toEqual(['INBOX']))
      await box.put('Archive', 'between-1')
      await box.put('Sent', 'between-2')
      await box.expunge('old-1', 'Archive')
      await nextSecond()
      await restart()
      await same()
      // The run that stored the folder again has ended once another one has.
      await service.synced(accountId)
      await box.put('Archive', 'new-1')
      await box.put('Sent', 'new-2')
      await same()
      await received('new-1')
      expect(await announced('message.sent')).toEqual(['<new-2@x>'])
      expect(await announced('message.deleted')).toEqual(['<old-1@x>'])
    })
  })
})

async function syncedFolders(db: Db, accountId: string): Promise<string[]> {
  const labels = await db.read
    .selectFrom('labels')
    .select('providerId')
    .where('accountId', '=', accountId)
    .where('syncedAs', 'is not', null)
    .orderBy('providerId')
    .execute()
  return labels.map(({ providerId }) => providerId)
}
