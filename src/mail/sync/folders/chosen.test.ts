import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { syncedMailbox } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'

const DEFAULT = ['Archive', 'Drafts', 'INBOX', 'Junk', 'Sent', 'Trash']

describe.skipIf(!dovecotAvailable())('the folders that an application chose', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeEachDatabase('for an account', (open) => {
    async function mailbox() {
      const found = await syncedMailbox(server, open, {
        before: (box) => box.put('Work', 'old-1').then(() => box.put('Archive', 'kept')),
      })
      const { db, accountId } = found
      const labels = () => db.read.selectFrom('labels').selectAll().where('accountId', '=', accountId).execute()
      return {
        ...found,
        async choose(service: ReturnType<typeof syncService>, ...paths: string[]) {
          const ids = (await labels()).flatMap(({ id, providerId }) => (paths.includes(providerId) ? id : []))
          expect(ids).toHaveLength(paths.length)
          await db.transaction((tx) => service.accounts.change(tx, accountId, { folders: ids }))
        },
        restore: (service: ReturnType<typeof syncService>) =>
          db.transaction((tx) => service.accounts.change(tx, accountId, { folders: null })),
        async synced(...paths: string[]) {
          await eventually(async () => {
            const rows = (await labels()).filter(({ syncedAs }) => syncedAs !== null)
            expect(rows.map(({ providerId }) => providerId).sort()).toEqual(paths)
          })
        },
      }
    }

    it('are read at once, the others no longer, and no old message is announced as new or deleted', async () => {
      const { box, service, choose, restore, synced, same, received, announced, accountId } = await mailbox()
      await synced(...DEFAULT)
      await choose(service, 'Work')
      await synced('INBOX', 'Work')
      await same(['INBOX', 'Work', 'Archive'])
      await box.put('Work', 'new-1')
      await same(['INBOX', 'Work', 'Archive'])
      await received('new-1')
      await box.put('Archive', 'unseen')
      await box.rename('Work', 'Projects')
      await synced('INBOX', 'Projects')
      await service.synced(accountId)
      expect(await announced('message.received')).toEqual(['<new-1@x>'])

      await restore(service)
      await synced(...DEFAULT)
      await eventually(async () => {
        const { messages } = await storedIn(service, accountId, 'Archive')
        expect(messages.sort()).toEqual(['kept', 'unseen'])
      })
      expect(await announced('message.received')).toEqual(['<new-1@x>'])
      expect(await announced('message.deleted')).toEqual([])
    })

    it('are those of the account when the process ended right after the choice', async () => {
      const { db, box, service, choose, synced, received, announced } = await mailbox()
      await service.stop()
      const other = syncService(db, { timing: { pollMs: 400 } })
      // Nothing of this service has started: only the row knows the choice.
      await choose(other, 'Work')
      await other.stop()
      const next = syncService(db, { timing: { pollMs: 400 } })
      onTestFinished(() => next.stop())
      await next.start()
      await synced('INBOX', 'Work')
      await box.put('Work', 'new-1')
      await received('new-1')
      expect(await announced('message.deleted')).toEqual([])
    })
  })
})

async function storedIn(service: ReturnType<typeof syncService>, accountId: string, mailbox: string) {
  const { messages } = await service.reader.list(accountId, { mailbox, limit: 50 })
  const items: { subject: string }[] = JSON.parse(`[${messages}]`)
  return { messages: items.map(({ subject }) => subject) }
}
