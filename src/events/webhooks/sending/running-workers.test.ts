import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { type WebhookFixtureOptions, webhookFixture } from '../../../../test/kit/events/webhooks.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { random } from '../../../../test/kit/random/random.ts'
import { memoryLog } from '../../../../test/kit/service/memory-log.ts'
import { type ReceiverResponse, startReceiver } from '../../../../test/servers/receiver.ts'
import { memoryBus } from '../../../platform/bus/index.ts'
import type { Db } from '../../../platform/db/index.ts'
import { silentLog } from '../../../platform/log/index.ts'
import { stampEvents } from '../../index.ts'
import { newDelivery } from '../deliveries/new-delivery.ts'
import { insertDeliveries } from '../deliveries/store.ts'
import { endpointStore } from '../endpoints/store.ts'
import { inFlightLimit } from './claims.ts'
import { dueHints } from './due-hints.ts'
import { DELIVER_QUEUE, deliverRun } from './endpoint-worker.ts'
import { RecentEvents } from './recent-events.ts'
import { ResultWriter } from './result-writer.ts'
import type { RunningWorkers } from './running-workers.ts'
import { Sender } from './thread/sender.ts'

describeEachDatabase('new deliveries of an endpoint that a worker sends to', (open) => {
  async function busyEndpoint(first: ReceiverResponse = 'hang', options: WebhookFixtureOptions = {}) {
    const db = await open()
    const claims = await watchedClaims(db)
    const receiver = closing(await startReceiver())
    const fixture = closing(webhookFixture(db, options))
    await fixture.engine.start()
    await fixture.create({ url: receiver.url })
    receiver.script(first)
    const [busyId = ''] = await fixture.record({})
    await eventually(() => expect(receiver.requests).toHaveLength(1))
    const sent = () => receiver.requests.map(({ headers }) => headers['webhook-id'])
    return { db, claims, receiver, fixture, busyId, sent }
  }

  it('are given to it without a claim', async () => {
    const { claims, fixture, sent, busyId } = await busyEndpoint()
    const eventIds = [busyId]
    // Not in the moment of each second in which the worker looks for older ones.
    await eventually(async () => {
      const before = await claims()
      eventIds.push(...(await fixture.record({}, {}, {})), ...(await fixture.record({})))
      await eventually(async () => {
        expect(sent().sort()).toEqual(eventIds.toSorted())
        const statuses = (await fixture.deliveries()).map(({ status }) => status)
        expect(statuses).toEqual(['pending', ...eventIds.slice(1).map(() => 'success')])
      })
      expect(await claims()).toEqual(before)
    })
    const [busy] = await fixture.deliveries()
    expect(await claims()).toContain(busy?.id)
  })

  it('are given to it after it has sent everything', async () => {
    const { claims, fixture, sent, busyId } = await busyEndpoint({})
    const eventIds = [busyId]
    // Its run may end in this moment.
    await eventually(async () => {
      eventIds.push(...(await fixture.record({})))
      await eventually(() => expect(sent()).toHaveLength(eventIds.length))
      await sleep(1_500)
      const before = await claims()
      eventIds.push(...(await fixture.record({})))
      await eventually(() => expect(sent().sort()).toEqual(eventIds.toSorted()))
      expect(await claims()).toEqual(before)
    })
  })

  it('are sent with new settings, though it waits with the old ones', async () => {
    const { receiver, fixture, sent } = await busyEndpoint({})
    const [endpoint] = await fixture.endpoints.list({ limit: 1 }).then(({ items }) => items)
    const elsewhere = closing(await startReceiver())
    await eventually(async () => expect(await fixture.deliveries()).toMatchObject([{ status: 'success' }]))
    await fixture.endpoints.update(endpoint?.id ?? '', { url: elsewhere.url })
    await fixture.record({})
    await eventually(() => expect(elsewhere.requests).toHaveLength(1))
    expect(receiver.requests).toHaveLength(1)
    expect(sent()).toHaveLength(1)
  })

  it('wait for a claim when they are more than it sends within a moment', async () => {
    const { claims, fixture, sent, busyId } = await busyEndpoint()
    const eventIds = await fixture.record(...Array.from({ length: 100 }, () => ({})))
    await eventually(() => expect(sent().sort()).toEqual([busyId, ...eventIds].sort()))
    expect(await claims()).toHaveLength(101)
  })

  it('wait behind older ones', async () => {
    const { claims, receiver, fixture, sent } = await busyEndpoint()
    let release = () => {}
    const after = new Promise<void>((resolve) => {
      release = resolve
    })
    receiver.always({ after })
    await fixture.record(...Array.from({ length: 100 }, () => ({})))
    await eventually(() => expect(sent().length).toBeGreaterThan(1))
    const newer = await fixture.record({})
    await eventually(async () => expect(await fixture.deliveries()).toHaveLength(102))
    release()
    await eventually(() => expect(sent()).toHaveLength(102))
    expect(await claims()).toHaveLength(102)
    // At most 32 are sent at a time, so the others have arrived before the last one is begun.
    expect(sent().indexOf(newer[0])).toBeGreaterThanOrEqual(102 - 32)
  })

  it('are sent once each, whenever its run ends', async () => {
    const choose = random()
    const { receiver, fixture, sent, busyId } = await busyEndpoint({}, { maxRunMs: 30 })
    receiver.always(() => ({ delayMs: choose() * 4 }))
    const eventIds = [busyId]
    for (let round = 0; round < 150; round += 1) {
      eventIds.push(...(await fixture.record(...Array.from({ length: 1 + Math.floor(choose() * 3) }, () => ({})))))
      await sleep(choose() * 12)
    }
    await eventually(() => expect(sent().length).toBeGreaterThanOrEqual(eventIds.length))
    expect(sent().sort()).toEqual(eventIds.sort())
  })
})

describeEachDatabase('new deliveries of an endpoint whose run ended before their commit', (open) => {
  it('are released, and the endpoint is queued', async () => {
    const db = await open()
    const receiver = closing(await startReceiver())
    const fixture = closing(webhookFixture(db))
    const { id: endpointId, secret = '' } = await fixture.create({ url: receiver.url })
    const runningWorkers: RunningWorkers = new Map()
    const { log, entries } = memoryLog()
    const { clock, queue, sealer, recorder, outbound } = fixture
    const shared = { db, clock, log, recorder, sealer, queue, runningWorkers }
    const hints = dueHints(memoryBus({ log: silentLog }))
    const run = deliverRun(
      {
        ...shared,
        maxRunMs: 1_000,
        inFlightLimit: inFlightLimit(),
        recentEvents: new RecentEvents(clock),
        resultWriter: new ResultWriter(shared),
        sender: closing(new Sender({ outbound, clock, log })),
      },
      hints,
      new AbortController().signal,
    )
    const store = async (lease: string | null) => {
      const [eventId] = await fixture.record({})
      return db.transaction(async (tx) => {
        const [event] = (await stampEvents(tx, db.dialect, 1)) ?? []
        const endpoint = await endpointStore(tx).get(endpointId)
        if (event === undefined || event.id !== eventId) throw new Error('there is another event')
        const delivery = { ...newDelivery(fixture.ids, event, endpoint, clock.now()), lease }
        await insertDeliveries(tx, [{ ...delivery, leasedUntil: lease === null ? null : clock.now() + 30_000 }])
        return { delivery, event }
      })
    }
    await store(null)
    const { updatedAt } = await endpointStore(db.read).get(endpointId)
    receiver.script({ delayMs: 100 })
    const running = run(endpointId, { signal: new AbortController().signal })
    const lease = await eventually(() => {
      const found = runningWorkers.get(endpointId)?.leaseFor(1, updatedAt)
      if (found === undefined) throw new Error('the worker takes none yet')
      return found
    })
    const worker = runningWorkers.get(endpointId)
    expect(worker?.leaseFor(1, updatedAt + 1)).toBeUndefined()
    await running
    expect([worker?.leaseFor(1, updatedAt), runningWorkers.size]).toEqual([undefined, 0])

    const deliveries = await store(lease.token)
    worker?.give([deliveries])
    await eventually(async () => {
      const row = db.read.selectFrom('webhookDeliveries').select('lease').where('id', '=', deliveries.delivery.id)
      expect(await row.executeTakeFirst()).toEqual({ lease: null })
      const jobs = db.read.selectFrom('jobs').select('key').where('queue', '=', DELIVER_QUEUE)
      expect(await jobs.execute()).toEqual([{ key: endpointId }])
    })
    expect(receiver.requests).toHaveLength(1)
    await run(endpointId, { signal: new AbortController().signal })
    expect(receiver.requests).toHaveLength(2)
    receiver.verify(secret)
    expect(entries.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
  })
})

/** Returns a function that reads the ids of the deliveries that were stored first and claimed later. */
async function watchedClaims(db: Db): Promise<() => Promise<string[]>> {
  const when = `when (old."lease" is null and new."lease" is not null)`
  await db.transaction(async (tx) => {
    const run = (text: string) => sql.raw(text).execute(tx)
    await run('create table "claimsSeen" ("id" text)')
    const insert = 'insert into "claimsSeen" values (new."id");'
    const update = 'create trigger "seeClaims" after update on "webhookDeliveries" for each row'
    if (db.engine === 'sqlite') return run(`${update} ${when} begin ${insert} end`)
    await run(`create function see_claim() returns trigger language plpgsql as $$ begin ${insert} return new; end $$`)
    return run(`${update} ${when} execute function see_claim()`)
  })
  return async () => {
    const { rows } = await sql<{ id: string }>`select "id" from "claimsSeen"`.execute(db.read)
    return rows.map(({ id }) => id)
  }
}
