import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { describeEachDatabase, describeOneDatabase, type Place } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { announced, storedMessages } from '../../../../test/kit/mailbox/mailbox-state.ts'
import { nextSecond } from '../../../../test/kit/mailbox/next-second.ts'
import { type SyncService, syncService } from '../../../../test/kit/mailbox/sync.ts'
import { connected, openMailbox, syncedMailbox } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { random } from '../../../../test/kit/random/random.ts'
import { startWorker } from '../../../../test/kit/workers/start.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { sleep } from '../../../platform/concurrency/abort.ts'
import type { Db } from '../../../platform/db/index.ts'

const KILLS = 4
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
      return {
        ...found,
        choose: (service: SyncService, ...paths: string[]) => choose(db, service, accountId, paths),
        restore: (service: SyncService) =>
          db.transaction((tx) => service.accounts.change(tx, accountId, { folders: null })),
        synced: (...paths: string[]) => isSynced(db, accountId, paths),
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
      await nextSecond()
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

  describeOneDatabase('for an account whose owner is killed', 'postgres', (open) => {
    it('hold, and no message is announced twice', async () => {
      const chance = random()
      const place = await open.place()
      const db = await open(place)
      const user = `chosen-killed-${place.engine}`
      await server.addUser(user, 'one')
      const box = openMailbox(server, user)
      for (const folder of ['Work', 'Archive']) await box.put(folder, `${folder}-old`)
      // It never starts, and its hints do not reach the owner: only the row knows the choice.
      const requester = syncService(db)
      onTestFinished(() => requester.stop())
      const accountId = await requester.link(server, user, 'one')
      let owner = await startOwner(place)
      await connected(requester, accountId)
      await eventually(async () => expect(await storedMessages(db, accountId)).toHaveLength(2))
      await nextSecond()

      const arrived: string[] = []
      let [chosen, other] = ['Archive', 'Work']
      for (let round = 0; round < KILLS; round += 1) {
        ;[chosen, other] = [other, chosen]
        await choose(db, requester, accountId, [chosen])
        const delivering = box.deliver(`new-${round}`)
        await sleep(chance() * 600)
        owner.kill('SIGKILL')
        await Promise.all([once(owner, 'exit'), delivering])
        arrived.push(`<new-${round}@x>`)
        owner = await startOwner(place)
      }
      await isSynced(db, accountId, ['INBOX', chosen])
      await box.put(other, 'unseen')
      await box.put(chosen, 'last')
      await box.deliver('new-last')
      arrived.push('<last@x>', '<new-last@x>')
      await eventually(async () => expect(await announced(db, accountId)).toEqual(arrived.sort()))
      expect(await announced(db, accountId, 'message.deleted')).toEqual([])
      const stored = (await storedMessages(db, accountId)).filter((state) => !state.startsWith('INBOX'))
      expect(stored.map((state) => state.split(' ')[2]).sort()).toEqual(['<Archive-old@x>', '<Work-old@x>', '<last@x>'])
    })
  })
})

async function startOwner({ dataDir, databaseUrl = '' }: Place) {
  const child = startWorker('sync-worker', [dataDir, databaseUrl])
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

const findLabels = (db: Db, accountId: string) =>
  db.read.selectFrom('labels').selectAll().where('accountId', '=', accountId).execute()

async function choose(db: Db, service: SyncService, accountId: string, paths: readonly string[]): Promise<void> {
  const labels = await findLabels(db, accountId)
  const ids = labels.flatMap(({ id, providerId }) => (paths.includes(providerId) ? id : []))
  expect(ids).toHaveLength(paths.length)
  await db.transaction((tx) => service.accounts.change(tx, accountId, { folders: ids }))
}

/** Waits until exactly these folders are synced. */
async function isSynced(db: Db, accountId: string, paths: readonly string[]): Promise<void> {
  await eventually(async () => {
    const synced = (await findLabels(db, accountId)).filter(({ syncedAs }) => syncedAs !== null)
    expect(synced.map(({ providerId }) => providerId).sort()).toEqual([...paths].sort())
  })
}

async function storedIn(service: SyncService, accountId: string, mailbox: string) {
  const { messages } = await service.reader.list(accountId, { mailbox, limit: 50 })
  const items: { subject: string }[] = JSON.parse(`[${messages}]`)
  return { messages: items.map(({ subject }) => subject) }
}
