import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { type Databases, describeEachDatabase, type Place } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { startWorker } from '../../../test/kit/workers/start.ts'
import { memoryBus, openPostgresBus } from '../bus/index.ts'
import type { Db } from '../db/index.ts'
import { idGenerator } from '../ids.ts'
import { silentLog } from '../log/index.ts'
import { systemClock } from '../time/clock.ts'
import { describeQueue, type QueueWorld } from './conformance/queue.ts'
import { gated, record, two } from './conformance/world.ts'
import { databaseQueue } from './database.ts'

describeEachDatabase('the queue on job rows', (open) => {
  const world = () => makeWorld(open)
  describeQueue('it', world)

  it('gives the jobs of a dead instance to other instances at once', async () => {
    const { crash, join } = await world()
    const queue = await join('ins_1')
    await queue.add('queue', 'a')
    await crash('ins_dead', 'queue', 600_000)
    const seen = record(queue)
    await queue.releaseInstance('ins_other')
    await queue.add('queue', 'b')
    await eventually(() => expect(seen.keys).toEqual(['b']))
    await queue.releaseInstance('ins_dead')
    await eventually(() => expect(seen.keys).toEqual(['b', 'a']))
  })

  it('aborts a run whose lease was lost, and ignores how it ends', async () => {
    const { one, other, world: shared } = await two(world)
    const gate = gated(one, { leaseMs: 300 })
    await one.add('queue', 'a')
    await eventually(() => expect(gate.running).toEqual(['a']))
    const stopping = gate.worker.stop(5000)
    await other.releaseInstance('ins_1')
    await eventually(() => expect(gate.signals[0]?.aborted).toBe(true))
    gate.release()
    await stopping
    expect(await shared.stored('queue')).toEqual(['a'])
    const seen = record(other)
    await eventually(() => expect(seen.keys).toEqual(['a']))
  })
})

describeEachDatabase('a job that is added while it runs', (open) => {
  it('costs no search for due jobs, and runs once more', async () => {
    const db = await open()
    let transactions = 0
    const counted: Db = {
      ...db,
      transaction(body, options) {
        transactions += 1
        return db.transaction(body, options)
      },
    }
    const queue = databaseQueue({
      db: counted,
      bus: memoryBus({ log: silentLog }),
      clock: systemClock,
      ids: idGenerator(systemClock),
      log: silentLog,
      instanceId: 'ins_1',
      pollMs: 60_000,
    })
    onTestFinished(() => queue.close())
    const add = () => counted.transaction((tx) => queue.addIn(tx, 'queue', ['a']))
    const gate = gated(queue)
    await add()
    await eventually(() => expect(gate.running).toEqual(['a']))
    // The first cycle may have been woken twice.
    await eventually(async () => {
      const before = transactions
      await setTimeout(50)
      expect(transactions).toBe(before)
    })
    const before = transactions
    for (let time = 0; time < 5; time += 1) await add()
    await setTimeout(50)
    expect(transactions - before).toBe(5)
    gate.open()
    await eventually(() => expect(gate.started).toEqual(['a', 'a']))
  })
})

describeEachDatabase('an idle worker', (open) => {
  it('only reads when other instances are busy, and runs what is due', async () => {
    const db = await open()
    let transactions = 0
    const counted: Db = {
      ...db,
      transaction(body, options) {
        transactions += 1
        return db.transaction(body, options)
      },
    }
    const bus = memoryBus({ log: silentLog })
    const join = (instanceId: string, db: Db) =>
      databaseQueue({
        db,
        bus,
        clock: systemClock,
        ids: idGenerator(systemClock),
        log: silentLog,
        instanceId,
        pollMs: 60_000,
      })
    const [idle, other] = [join('ins_1', counted), join('ins_2', db)]
    onTestFinished(() => idle.close())
    onTestFinished(() => other.close())
    const seen = record(idle)
    await other.add('queue', 'first')
    await eventually(() => expect(seen.keys).toEqual(['first']))
    await eventually(async () => {
      const before = transactions
      await setTimeout(50)
      expect(transactions).toBe(before)
    })
    const before = transactions
    for (let hint = 0; hint < 10; hint += 1) {
      bus.publish('jobs:queue', 'ins_2')
      await setTimeout(20)
    }
    expect(transactions).toBe(before)
    await other.add('queue', 'second')
    await eventually(() => expect(seen.keys).toEqual(['first', 'second']))
  })
})

async function makeWorld(open: Databases): Promise<QueueWorld> {
  const place = await open.place()
  const { databaseUrl: url } = place
  const db = await open(place)
  const shared = memoryBus({ log: silentLog })
  return {
    db,
    async join(instanceId, pollMs = 100) {
      // The file store has only this process.
      const own = url === undefined ? db : await open(place)
      const bus = url === undefined ? shared : await openPostgresBus({ url, db: own, log: silentLog })
      const queue = databaseQueue({
        db: own,
        bus,
        clock: systemClock,
        ids: idGenerator(systemClock),
        log: silentLog,
        instanceId,
        pollMs,
        expiryMs: Math.min(pollMs, 2000),
        backoff: { baseMs: 20, capMs: 100 },
      })
      onTestFinished(async () => {
        await queue.close()
        await bus.close()
      })
      return queue
    },
    crash: (instanceId, queue, leaseMs) => crash(place, instanceId, queue, leaseMs),
    async stored(queue) {
      const rows = await db.read.selectFrom('jobs').select('key').where('queue', '=', queue).execute()
      return rows.map((row) => row.key)
    },
  }
}

async function crash({ dataDir, databaseUrl = '' }: Place, instanceId: string, queue: string, leaseMs: number) {
  const child = startWorker('crashing-worker', [dataDir, databaseUrl, instanceId, queue, String(leaseMs)])
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
}
