import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { syncedMailbox } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { random } from '../../../../test/kit/random/random.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { workerFile } from '../../../platform/threads/worker-file.ts'
import { imapOnThread } from '../../../providers/imap/index.ts'

const ROUNDS = 10
const PER_ROUND = 20
/** Another thread is connected after about half of it. */
const MOST_MS = 600
/** It goes on until so many were used. */
const THREADS = 4

describe.skipIf(!dovecotAvailable())('the thread of the IMAP connections ends at random moments', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeEachDatabase('while messages arrive', (open) => {
    it('announces every message once', async () => {
      const next = random()
      let worker: Worker | undefined
      let started = 0
      const startWorker = () => {
        started += 1
        worker = new Worker(workerFile('imap-worker'))
        return worker
      }
      const imap = closing(imapOnThread({ guard: openGuard, startWorker, timing: { restartMs: 50 } }))
      const { box, received, same } = await syncedMailbox(server, open, { mail: imap.mail })
      const delivered: string[] = []
      // On a slow machine a thread takes longer to start than a round.
      for (let round = 0; round < ROUNDS || started < THREADS; round += 1) {
        const ids = Array.from({ length: PER_ROUND }, (_, index) => `round${round}-${index}`)
        delivered.push(...ids)
        const lost = sleep(next() * MOST_MS).then(() => worker?.terminate())
        await Promise.all([box.deliver(...ids), lost])
      }
      await received(...delivered)
      await same()
    })
  })
})
