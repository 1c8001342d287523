import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { closing } from '../../../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../../../test/kit/database/database.ts'
import { webhookFixture } from '../../../../../test/kit/events/webhooks.ts'
import { eventually } from '../../../../../test/kit/eventually.ts'
import { random } from '../../../../../test/kit/random/random.ts'
import { startReceiver } from '../../../../../test/servers/receiver.ts'
import { workerFile } from '../../../../platform/threads/worker-file.ts'

const ROUNDS = 12
const PER_ROUND = 30
const MOST_MS = 250
/** It goes on until so many were used. */
const THREADS = 4

describeEachDatabase('the thread that sends webhooks ends at random moments', (open) => {
  it('loses no delivery, records each once, and repeats requests only under the same id', async () => {
    const next = random()
    let worker: Worker | undefined
    let started = 0
    const startWorker = () => {
      started += 1
      worker = new Worker(workerFile('sender-worker'))
      return worker
    }
    const receiver = closing(await startReceiver())
    receiver.always(() => ({ delayMs: next() * 20 }))
    const timing = { busyAttempts: 1, restartMs: 0 }
    const sendingThread = { privateTargets: 'loopback', startWorker, timing }
    const fixture = closing(webhookFixture(await open(), { sendingThread }))
    await fixture.engine.start()
    const { secret = '' } = await fixture.create({ url: receiver.url })
    const recorded: string[] = []
    // On a slow machine a thread takes longer to start than a round.
    for (let round = 0; round < ROUNDS || started < THREADS; round += 1) {
      const lost = sleep(next() * MOST_MS).then(() => worker?.terminate())
      const sketches = Array.from({ length: PER_ROUND }, (_, index) => ({ objectId: `msg_${round}_${index}` }))
      for (const sketch of sketches) recorded.push(...(await fixture.record(sketch)))
      await lost
    }
    await eventually(async () => {
      const rows = await fixture.db.read.selectFrom('webhookDeliveries').select(['eventId', 'status']).execute()
      expect(rows.filter(({ status }) => status !== 'success')).toEqual([])
      expect(rows.map(({ eventId }) => eventId).sort()).toEqual([...recorded].sort())
    })
    const attempts = await fixture.db.read.selectFrom('webhookAttempts').select(['deliveryId', 'errorKind']).execute()
    expect(attempts.filter(({ errorKind }) => errorKind !== null)).toEqual([])
    expect(new Set(attempts.map(({ deliveryId }) => deliveryId)).size).toBe(attempts.length)
    const bodies = new Map<string, Set<string>>()
    for (const { headers, body } of receiver.requests) {
      const id = String(headers['webhook-id'])
      bodies.set(id, (bodies.get(id) ?? new Set()).add(body))
    }
    expect([...bodies.keys()].sort()).toEqual([...recorded].sort())
    expect([...bodies.values()].filter((each) => each.size > 1)).toEqual([])
    receiver.verify(secret)
  })
})
