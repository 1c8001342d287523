import { once } from 'node:events'
import { join } from 'node:path'
import { it, onTestFinished } from 'vitest'
import { describeOneDatabase } from '../../../test/kit/database/database.ts'
import { fileStore, MailboxDouble } from '../../../test/kit/mailbox/double/mailbox-double.ts'
import { syncService } from '../../../test/kit/mailbox/sync.ts'
import { PROVIDERS, watchedMailbox } from '../../../test/kit/mailbox/synced-double.ts'
import { random } from '../../../test/kit/random/random.ts'
import { startWorker } from '../../../test/kit/workers/start.ts'
import { sleep } from '../../platform/concurrency/abort.ts'

const ROUNDS = 12
const HOUR = '3600000'
const RUN_PAUSE_MS = '80'

/**
 * The bus of this process does not reach the owner, so the hint of every request is lost. The owner never polls, and its runs pause
 * before they end, so some requests arrive after a run has read the mailbox and before it clears the column.
 */
describeOneDatabase('a requested sync', 'postgres', (open) => {
  it('is served whenever the owner is killed, and whatever it does during the request', async () => {
    const chance = random()
    const place = await open.place()
    const db = await open(place)
    const file = join(place.dataDir, 'provider.json')
    const box = new MailboxDouble('whole', fileStore(file, true))
    const requester = syncService(db, { mail: box.mail })
    onTestFinished(() => requester.stop())
    const accountId = await requester.linkMailbox(PROVIDERS.whole)
    const { received } = watchedMailbox(db, accountId, () => box.state, requester.wake)
    const start = async () => {
      const child = startWorker('mailbox-sync-worker', [
        place.dataDir,
        place.databaseUrl ?? '',
        'whole',
        file,
        HOUR,
        RUN_PAUSE_MS,
      ])
      onTestFinished(() => void child.kill('SIGKILL'))
      await once(child.stdout, 'data')
      return child
    }
    let owner = await start()
    await requester.synced(accountId)

    const delivered: string[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let n = 0; n < 3; n += 1) {
        const id = `m-${round}-${n}`
        box.deliver(id)
        delivered.push(id)
        await requester.wake(accountId)
        await sleep(chance() * 60)
      }
      if (chance() < 0.5) {
        await sleep(chance() * 200)
        owner.kill('SIGKILL')
        await once(owner, 'exit')
        owner = await start()
      }
      await received(...delivered)
    }
    await requester.synced(accountId)
  })
})
