import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { describeOneDatabase, type Place } from '../../../../test/kit/database/database.ts'
import { fileStore, MailboxDouble } from '../../../../test/kit/mailbox/double/mailbox-double.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { PROVIDERS, QUIET, watchedMailbox } from '../../../../test/kit/mailbox/synced-double.ts'
import { random } from '../../../../test/kit/random/random.ts'
import { startWorker } from '../../../../test/kit/workers/start.ts'
import { sleep } from '../../../platform/concurrency/abort.ts'

const KILLS = 4
const OLD = 60
const NEW_PER_ROUND = 12

describeOneDatabase('a process killed at any moment, at a provider that assigns message ids', 'sqlite', (open) => {
  it.each(['whole', 'folders'] as const)('loses no message and emits no event twice: %s', async (kind) => {
    const chance = random()
    const place = await open.place()
    const db = await open(place)
    const file = join(place.dataDir, 'provider.json')
    const box = new MailboxDouble(kind, fileStore(file, true))
    box.deliverAll(named('old', OLD), (n) => ({
      receivedAt: 1_000_000 + n,
      folders: [n % 3 === 0 ? 'Work' : 'INBOX'],
    }))
    const returning = kind === 'folders' ? named('old', KILLS + 1).map((id) => `returning-${id}`) : []
    box.deliverAll(returning, (n) => ({ receivedAt: 2_000_000 + n }))
    const linking = syncService(db, { mail: box.mail })
    const accountId = await linking.linkMailbox(PROVIDERS[kind])
    await linking.stop()

    const arrived: string[] = []
    for (let round = 0, early = 0; round < KILLS; ) {
      const child = await started(place, kind, file)
      const cursors = await db.read.selectFrom('syncCursors').select('lastSyncAt').execute()
      // Before the first complete sync, a comparison after an expired cursor announces nothing.
      const begun = cursors.filter((row) => row.lastSyncAt !== null).length >= (kind === 'whole' ? 1 : 7)
      if (begun) {
        round += 1
        const ids = named(`new-${round}`, NEW_PER_ROUND)
        for (const [n, id] of ids.entries()) {
          box.deliver(id)
          box.set(`old-${round * 10 + n}`, n % 2 === 0 ? { folders: ['More'] } : { unread: false })
          await sleep(chance() * 25)
        }
        box.remove(`old-${round}`)
        // Reported as removed only: whether they exist is asked by their ids.
        box.setRemovedOnly(...returning)
        const away = returning[round] ?? ''
        box.set(away, { folders: ['More'] })
        box.set(away, { folders: ['INBOX'] })
        if (round === 2) box.expireCursors()
        arrived.push(...ids)
      } else {
        early += 1
      }
      // On a busy machine the first sync takes longer than the first kills leave it.
      await sleep(chance() * (begun ? 250 : 500 * early))
      child.kill('SIGKILL')
      await once(child, 'exit')
    }

    const service = syncService(db, {
      mail: box.mail,
      owning: { roundMs: 100, deadAfterMs: 2000, settleMs: 0 },
      timing: QUIET,
    })
    onTestFinished(() => service.stop())
    await service.start()
    const { same, received, emitted } = watchedMailbox(db, accountId, () => box.state, service.synced)
    await same()
    await received(...arrived)
    const events = await emitted()
    expect(events.filter((event) => event.includes('returning'))).toEqual([])
    expect(new Set(events).size).toBe(events.length)
  })
})

function named(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${prefix}-${n}`)
}

async function started({ dataDir, databaseUrl = '' }: Place, kind: string, file: string) {
  const child = startWorker('mailbox-sync-worker', [dataDir, databaseUrl, kind, file])
  await once(child.stdout, 'data')
  return child
}
