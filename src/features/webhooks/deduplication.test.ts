import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../test/kit/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { TEST_RING, type WebhookHouse, webhookHouse } from '../../../test/kit/webhooks.ts'
import { startReceiver } from '../../../test/servers/receiver.ts'
import { sampleEvent } from '../../events/index.ts'
import type { Db } from '../../infra/db/index.ts'
import { fixedClock } from '../../lib/clock.ts'
import { retryDelivery } from './retry.ts'

/** An event as the one before it: of the same object in the same version. */
const SAME = { objectId: 'msg_same', version: 1 }

const settled = (house: WebhookHouse, statuses: string[]) =>
  eventually(async () => {
    const found = await house.deliveries()
    expect(found.map(({ status }) => status)).toEqual(statuses)
    return found
  })

const configure = (db: Db, changes: { enabled?: number; keyFields?: string; ttlSeconds?: number }) =>
  db.transaction((tx) => tx.updateTable('deduplicationConfig').set(changes).execute())

describeEachDatabase('an event that repeats another', (open) => {
  it('is not sent, and leaves a row for every endpoint that would have heard of it', async () => {
    const receiver = closing(await startReceiver())
    const house = closing(webhookHouse(await open()))
    for (const id of ['one', 'two']) await house.create({ id, url: receiver.url })
    await house.engine.start()
    await house.record(SAME)
    await settled(house, ['success', 'success'])
    await house.record(SAME, { version: 2 })
    const found = await settled(house, ['success', 'success', 'deduplicated', 'deduplicated', 'success', 'success'])
    expect(found.slice(2, 4)).toMatchObject(
      ['one', 'two'].map((endpointId) => ({ endpointId, attempt: 0, nextAttemptAt: null, attempts: [], error: null })),
    )
    expect(receiver.requests).toHaveLength(4)
  })

  it('is told within one batch too, by the times of the events, whenever they are fanned out', async () => {
    const receiver = closing(await startReceiver())
    const clock = fixedClock(Date.now())
    const house = closing(webhookHouse(await open(), { clock }))
    await configure(house.db, { ttlSeconds: 60 })
    await house.create({ url: receiver.url })
    await house.record(SAME)
    clock.advance(59_999)
    await house.record(SAME)
    clock.advance(1)
    await house.record(SAME)
    await house.engine.start()
    await settled(house, ['success', 'deduplicated', 'success'])
  })

  it('is one by the fields that the settings name', async () => {
    const receiver = closing(await startReceiver())
    const house = closing(webhookHouse(await open()))
    await configure(house.db, { keyFields: '["eventType","data.subject"]' })
    await house.create({ url: receiver.url })
    const about = (subject: string) => ({ data: { subject } })
    await house.record({ objectId: 'a', ...about('x') }, { objectId: 'b', ...about('x') }, about('y'))
    await house.engine.start()
    await settled(house, ['success', 'deduplicated', 'success'])
    await configure(house.db, { enabled: 0 })
    await house.record(about('x'))
    await settled(house, ['success', 'deduplicated', 'success', 'success'])
  })

  it('is not one when nobody heard of the first, nor without a version to tell changes apart', async () => {
    const receiver = closing(await startReceiver())
    const house = closing(webhookHouse(await open()))
    await house.engine.start()
    await house.record(SAME)
    await eventually(async () => {
      expect(await house.db.read.selectFrom('events').select('id').where('position', 'is', null).execute()).toEqual([])
    })
    await house.create({ url: receiver.url })
    await house.record(SAME)
    await settled(house, ['success'])
    await house.record({ objectId: 'x', version: null }, { objectId: 'x', version: null })
    await settled(house, ['success', 'success', 'success'])
  })

  it('can still be sent by hand; retries and tests are never suppressed', async () => {
    const receiver = closing(await startReceiver())
    const { type: _type, ...message } = sampleEvent('message.received')
    const house = closing(webhookHouse(await open(), { readMessage: async () => message }))
    const { id: endpointId } = await house.create({ url: receiver.url })
    await house.engine.start()
    await house.record(SAME, SAME)
    const [, suppressed] = await settled(house, ['success', 'deduplicated'])
    await house.db.transaction((tx) =>
      retryDelivery(tx, { dialect: house.db.dialect, queue: house.queue }, suppressed?.id ?? '', house.clock.now()),
    )
    await settled(house, ['success', 'success'])
    await house.trials.testMessage('acc_test', 'msg_test')
    for (let times = 0; times < 2; times += 1) await house.trials.test(endpointId)
    expect(receiver.requests).toHaveLength(5)
  })

  it('is not the same event again: what holds its own claim is sent', async () => {
    const receiver = closing(await startReceiver())
    const house = closing(webhookHouse(await open()))
    await house.create({ url: receiver.url })
    const [eventId = ''] = await house.record(SAME)
    await house.engine.start()
    await settled(house, ['success'])
    // As after a crash that kept the claim and lost the deliveries.
    await house.db.transaction(async (tx) => {
      await tx.deleteFrom('webhookDeliveries').execute()
      await tx.updateTable('events').set({ position: null }).where('id', '=', eventId).execute()
    })
    await house.record(SAME)
    await settled(house, ['success', 'deduplicated'])
    expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual([eventId, eventId])
  })

  it('survives a process killed between the claim and the deliveries: the first is sent, its repeat is not', async () => {
    const place = await open.place()
    const db = await open(place)
    const receiver = closing(await startReceiver())
    const house = closing(webhookHouse(db))
    await house.create({ url: receiver.url })
    const [first, repeat] = await house.record(SAME, SAME)

    const script = ['--import', 'tsx', 'test/kit/claiming-worker.ts', JSON.stringify(place), TEST_RING]
    const child = spawn(process.execPath, script, { stdio: ['ignore', 'pipe', 'inherit'] })
    closing({ close: async () => void child.kill('SIGKILL') })
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await house.deliveries()).toEqual([])

    await house.queue.releaseInstance('worker')
    await house.engine.start()
    const found = await settled(house, ['success', 'deduplicated'])
    expect(found.map(({ eventId }) => eventId)).toEqual([first, repeat])
    expect(receiver.requests).toHaveLength(1)
  })
})
