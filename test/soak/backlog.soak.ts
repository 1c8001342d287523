import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { DATA, startSink } from '../../bench/sink.ts'
import type { Db } from '../../src/platform/db/index.ts'
import { closing } from '../kit/closing.ts'
import { describeEachDatabase } from '../kit/database/database.ts'
import { webhookFixture } from '../kit/events/webhooks.ts'

const DELIVERIES = 1_000_000
const ENDPOINTS = 50
const RUN_MS = 20_000
const DRAIN_MS = 25_000
const MEGABYTE = 1024 * 1024

/** Inserts the rows directly, because a million API calls would take hours. */
async function insertBacklog(db: Db, url: string): Promise<void> {
  const numbers = (count: number) =>
    sql`with recursive "n"("i") as (select 0 union all select "i" + 1 from "n" where "i" < ${sql.lit(count - 1)})`
  const id = (prefix: string, number: string) =>
    sql`${sql.lit(prefix)} || substr(cast(10000000 + ${sql.raw(number)} as text), 2)`
  const data = JSON.stringify(DATA)
  await db.transaction(async (tx) => {
    await sql`insert into "events" ("id", "type", "accountId", "sequence", "objectId", "version", "data", "position", "createdAt")
      ${numbers(DELIVERIES / ENDPOINTS)}
      select ${id('evt_', '"i"')}, 'message.received', 'acc_1', "i", 'msg', 1, ${data}, "i", 1 from "n"`.execute(tx)
    await sql`insert into "webhookDeliveries"
        ("id", "endpointId", "eventId", "eventType", "accountId", "status", "trigger", "maxAttempts", "nextAttemptAt", "url", "createdAt")
      ${numbers(DELIVERIES)}
      select ${id('dlv_', '"i"')}, 'hook-' || ("i" % ${sql.lit(ENDPOINTS)}), ${id('evt_', `"i" / ${ENDPOINTS}`)},
        'message.received', 'acc_1', 'pending', 'event', 4, "i" / 1000, ${url}, 1 from "n"`.execute(tx)
  })
  await db.transaction((tx) => tx.updateTable('webhookDeliveryCount').set({ total: DELIVERIES }).execute())
}

describeEachDatabase('a million due deliveries', (open, engine) => {
  it('are sent in bounded memory', { timeout: 600_000 }, async () => {
    const db = await open()
    const sink = await startSink()
    const fixture = closing(webhookFixture(db))
    for (let index = 0; index < ENDPOINTS; index += 1) await fixture.create({ id: `hook-${index}`, url: sink.url })
    await insertBacklog(db, sink.url)
    const before = process.memoryUsage().rss
    let highest = before
    const startedMs = performance.now()
    await fixture.engine.start()
    const startMs = Math.round(performance.now() - startedMs)
    const endMs = performance.now() + RUN_MS
    while (performance.now() < endMs) {
      await sleep(100)
      highest = Math.max(highest, process.memoryUsage().rss)
    }
    // As at SIGTERM: requests in flight end, and the rest is released for the next start.
    await fixture.engine.stop(DRAIN_MS)
    sink.stop()
    const attempts = await countAttempts(db)
    console.log(
      `${engine}: ${attempts.toLocaleString('en')} of a million sent in ${RUN_MS / 1000} s; started in ${startMs} ms; memory ${mega(before)} before, ${mega(highest)} maximum`,
    )
    expect(attempts).toBeGreaterThan(0)
    expect(highest - before).toBeLessThan(400 * MEGABYTE)
    const leased = await db.read.selectFrom('webhookDeliveries').select('id').where('lease', 'is not', null).execute()
    expect(leased).toEqual([])
  })
})

async function countAttempts({ read }: Db): Promise<number> {
  const { count } = await read
    .selectFrom('webhookAttempts')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

const mega = (bytes: number) => `${Math.round(bytes / MEGABYTE)} MB`
