import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { describeOneDatabase, type Place } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { announced, mailEvents, serverMessages, storedMessages } from '../../../../test/kit/mailbox/mailbox-state.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { mail, openMailbox } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { random } from '../../../../test/kit/random/random.ts'
import { startWorker } from '../../../../test/kit/workers/start.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { sleep } from '../../../platform/concurrency/abort.ts'
import type { Db } from '../../../platform/db/index.ts'

const KILLS = 3
const MOST_KILLS = 8
const OLD = 700

describe.skipIf(!dovecotAvailable())('a process killed at any moment', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeOneDatabase('loses no message and emits no event twice', 'postgres', (open) => {
    it('right after the first page of a first sync', async () => {
      const place = await open.place()
      const db = await open(place)
      const user = `first-page-${place.engine}`
      await server.addUser(user, 'one')
      await server.deliverMany(
        user,
        Array.from({ length: 120 }, (_, n) => mail(`old-${n}`)),
      )
      const linking = syncService(db)
      const accountId = await linking.link(server, user, 'one')
      await linking.stop()
      await once(startWorker('sync-worker', [place.dataDir, place.databaseUrl ?? '', '1']), 'exit')
      const newest = (await serverMessages(server, user, ['INBOX'])).filter((state) => Number(state.split(' ')[1]) > 70)
      expect(await storedMessages(db, accountId)).toEqual(newest)

      const settings = { initialMessages: 2000 }
      const service = syncService(db, { settings, owning: { roundMs: 100, deadAfterMs: 400, settleMs: 0 } })
      onTestFinished(() => service.stop())
      await service.start()
      await eventually(async () => {
        expect(await storedMessages(db, accountId)).toEqual(await serverMessages(server, user, ['INBOX']))
      })
      expect(await announced(db, accountId)).toEqual([])
    })

    it('during the first sync, and while messages arrive, move and are deleted', async () => {
      const chance = random()
      const place = await open.place()
      const db = await open(place)
      const user = `killed-${place.engine}`
      await server.addUser(user, 'one')
      const box = openMailbox(server, user)
      await box.create('Work')
      await server.deliverMany(
        user,
        Array.from({ length: OLD }, (_, n) => mail(`old-${n}`)),
      )
      const copied = Array.from({ length: MOST_KILLS }, (_, n) => `copied-${n}`)
      await box.put('INBOX', ...copied)
      const linking = syncService(db)
      const accountId = await linking.link(server, user, 'one')
      await linking.stop()

      const idsBefore = new Map<string, string>()
      const arrived: string[] = []
      // Messages count as new only after the first sync is stored, and some kills happen before that.
      for (let round = 0, inSync = 0; inSync < KILLS && round < MOST_KILLS; round += 1) {
        const begun = await db.read
          .selectFrom('syncCursors')
          .select('cursor')
          .where('accountId', '=', accountId)
          .execute()
        const child = await started(place)
        if (begun.length < 4) {
          await sleep(chance() * 500 * (1 + round))
          child.kill('SIGKILL')
          await once(child, 'exit')
          continue
        }
        inSync += 1
        const ids = Array.from({ length: 10 }, (_, n) => `new-${round}-${n}`)
        const moving = copied[round] ?? ''
        idsBefore.set(moving, (await findIds(db, moving))[0] ?? '')
        const work = (async () => {
          await box.deliver(...ids)
          await box.move(`old-${round}`, 'Work')
          await box.expunge(`old-${round + 100}`)
          await box.flag(`old-${round + 200}`, '\\Seen')
          await server.deliver(user, mail(moving, { headers: ['X-OfflineIMAP: x1-Work'] }), { folder: 'Work' })
          await sleep(chance() * 500)
          await box.expunge(moving)
        })()
        await sleep(chance() * 2000)
        child.kill('SIGKILL')
        await Promise.all([once(child, 'exit'), work])
        arrived.push(...ids)
      }

      const service = syncService(db, {
        settings: { initialMessages: 2000, folders: ['Work'] },
        owning: { roundMs: 100, deadAfterMs: 2000, settleMs: 0 },
        timing: { pollMs: 500 },
      })
      onTestFinished(() => service.stop())
      await service.start()
      await eventually(async () => {
        expect(await storedMessages(db, accountId)).toEqual(await serverMessages(server, user, ['INBOX', 'Work']))
      })
      await eventually(async () =>
        expect(await announced(db, accountId)).toEqual(arrived.map((id) => `<${id}@x>`).sort()),
      )
      // One of each pair of copies is left, with the id of the original; one message of each round was deleted.
      await eventually(async () => {
        for (const [subject, id] of idsBefore) expect(await findIds(db, subject)).toEqual([id])
        expect(await announced(db, accountId, 'message.deleted')).toHaveLength(idsBefore.size)
      })
      const events = await mailEvents(db, accountId)
      const objects = events.map((event) => `${event.type} ${event.objectId} ${event.version}`)
      expect(new Set(objects).size).toBe(objects.length)
    })
  })
})

async function findIds(db: Db, subject: string): Promise<string[]> {
  const rows = await db.read.selectFrom('messages').select('id').where('subject', '=', subject).execute()
  return rows.map(({ id }) => id)
}

async function started({ dataDir, databaseUrl = '' }: Place) {
  const child = startWorker('sync-worker', [dataDir, databaseUrl])
  await once(child.stdout, 'data')
  return child
}
