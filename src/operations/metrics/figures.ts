import { sql } from 'kysely'
import { livingInstances } from '../../accounts/cluster/index.ts'
import type { SyncHealth } from '../../mail/sync/index.ts'
import { countMatching, type Db } from '../../platform/db/index.ts'
import type { Clock } from '../../platform/time/clock.ts'

/** Figures of the whole service, the same on every replica. Ages are null when nothing waits. */
export interface Figures extends SyncHealth {
  instances: number
  /** Deliveries that wait for an attempt, messages that wait to be sent, and events without deliveries; each at most 10,000. */
  waiting: { deliveries: number; outbox: number; events: number }
  /** How long the oldest of each has waited. Messages count from when they were due. */
  ageMs: { deliveries: number | null; outbox: number | null; events: number | null }
  uncertainMessages: number
}

/** Messages that wait for a time in the future come between those that are due. */
const OUTBOX_SAMPLE = 1000

interface FigureDeps {
  db: Pick<Db, 'read'>
  clock: Clock
  syncHealth(): Promise<SyncHealth>
}

/** Reads only indexes, and at most 10,000 entries of each. */
export async function readFigures({ db, clock, syncHealth }: FigureDeps): Promise<Figures> {
  const { read } = db
  const nowMs = clock.now()
  const measureAge = (since: number | undefined) => (since === undefined ? null : Math.max(0, nowMs - since))
  // The indexes have only what was not delivered and not sent. SQLite uses them for a literal condition only.
  const undelivered = read.selectFrom('webhookDeliveries').select('id').where('status', '<>', sql.lit('success'))
  const deliveriesIn = (status: 'pending' | 'retrying') => undelivered.where('status', '=', status).orderBy('id')
  const unsent = read.selectFrom('outbox').select('id').where('status', '<>', sql.lit('sent'))
  const outboxIn = (status: 'queued' | 'uncertain') => unsent.where('status', '=', status).orderBy('id')
  const unstamped = read.selectFrom('events').select('id').where('position', 'is', null).orderBy('id')

  const sync = await syncHealth()
  const instances = await livingInstances(read)
  const pending = await countMatching(read, deliveriesIn('pending'))
  const retrying = await countMatching(read, deliveriesIn('retrying'))
  const queued = await countMatching(read, outboxIn('queued'))
  const uncertain = await countMatching(read, outboxIn('uncertain'))
  const events = await countMatching(read, unstamped)
  const oldestDelivery = await deliveriesIn('pending').select('createdAt').limit(1).executeTakeFirst()
  const oldestEvent = await unstamped.select('createdAt').limit(1).executeTakeFirst()
  const oldestQueued = await read
    .selectFrom(outboxIn('queued').select('dueAt').limit(OUTBOX_SAMPLE).as('oldest'))
    .select((eb) => eb.fn.min<number | string | null>('dueAt').as('dueAt'))
    .where('dueAt', '<=', nowMs)
    .executeTakeFirst()
  const dueAt = oldestQueued?.dueAt ?? null
  return {
    ...sync,
    instances: instances.length,
    waiting: { deliveries: pending.count + retrying.count, outbox: queued.count, events: events.count },
    ageMs: {
      deliveries: measureAge(oldestDelivery?.createdAt),
      outbox: dueAt === null ? null : measureAge(Number(dueAt)),
      events: measureAge(oldestEvent?.createdAt),
    },
    uncertainMessages: uncertain.count,
  }
}
