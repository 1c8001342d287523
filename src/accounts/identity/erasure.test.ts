import { afterEach, expect, it } from 'vitest'
import { imapUser, testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { eraseEvents } from '../../events/erase.ts'
import type { Erase } from '../../feature.ts'
import { memoryBus } from '../../platform/bus/index.ts'
import type { Db } from '../../platform/db/index.ts'
import { idGenerator } from '../../platform/ids.ts'
import { silentLog } from '../../platform/log/index.ts'
import { databaseQueue, type Queue } from '../../platform/queue/index.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { erasure, requestErasure } from '../index.ts'
import type { Erasure } from './erasure.ts'

describeEachDatabase('the erasure of a deleted account', (open) => {
  let current: Erasure | undefined
  let queue: Queue | undefined
  afterEach(async () => {
    await current?.stop()
    await current?.stop()
    await queue?.close()
  })

  async function prepare(erase: readonly Erase[], forget: (accountId: string) => Promise<void> = async () => {}) {
    const db = await open()
    const bus = memoryBus({ log: silentLog })
    const deps = { db, bus, clock: systemClock, ids: idGenerator(systemClock), log: silentLog }
    const jobs = databaseQueue({ ...deps, instanceId: 'me', backoff: { baseMs: 20, capMs: 20 } })
    const parts = erasure({ db, queue: jobs, clock: systemClock, log: silentLog, erase, forget })
    queue = jobs
    current = parts
    const accounts = testAccounts(db, { bus, onRemove: requestErasure(jobs) })
    const remove = (id: string) => db.transaction((tx) => accounts.accounts.remove(tx, id))
    return { db, jobs, erasing: parts, accounts, remove }
  }

  /** Inserts this many events, as if messages had arrived. */
  async function fill(db: Db, accountId: string, count: number): Promise<void> {
    const ids = idGenerator(systemClock)
    await db.transaction(async (tx) => {
      for (let i = 0; i < count; i += 1) {
        await tx
          .insertInto('events')
          .values({
            id: ids('evt'),
            type: 'message.received',
            accountId,
            provider: 'imap',
            sequence: 100 + i,
            objectId: null,
            version: null,
            data: '{}',
            position: null,
            createdAt: 0,
          })
          .execute()
      }
    })
  }

  async function left(db: Db) {
    const [events, sequences, erasures] = await Promise.all([
      db.read.selectFrom('events').select(['accountId', 'type']).orderBy('id').execute(),
      db.read.selectFrom('eventSequences').select('accountId').execute(),
      db.read.selectFrom('accountErasures').select('accountId').execute(),
    ])
    return { events, sequences, erasures }
  }

  it('erases everything but the last event, in parts, and yields to the event loop between them', async () => {
    const steps: number[] = []
    const turnsAtStep: number[] = []
    let turns = 0
    let counting = true
    const count = () => {
      turns += 1
      if (counting) setImmediate(count)
    }
    const forgotten: string[] = []
    const { db, accounts, erasing, remove } = await prepare(
      [
        async (tx, id, limit) => {
          const rows = await eraseEvents(tx, id, limit)
          steps.push(rows)
          turnsAtStep.push(turns)
          return rows
        },
      ],
      async (id) => void forgotten.push(id),
    )
    const gone = await accounts.link(imapUser('gone'))
    const kept = await accounts.link(imapUser('kept'))
    await fill(db, gone.id, 500)
    await remove(gone.id)
    expect(await left(db)).toMatchObject({ erasures: [{ accountId: gone.id }] })
    count()
    await erasing.start()
    await eventually(async () => expect((await left(db)).erasures).toEqual([]))
    counting = false
    expect(steps).toEqual([200, 200, 101, 0, 0])
    // The event loop ran between any two parts.
    expect([...new Set(turnsAtStep)]).toEqual(turnsAtStep)
    expect(forgotten).toEqual([gone.id, gone.id])
    expect(await left(db)).toEqual({
      events: [
        { accountId: kept.id, type: 'account.connected' },
        { accountId: gone.id, type: 'account.deleted' },
      ],
      sequences: [{ accountId: kept.id }],
      erasures: [],
    })
  })

  it('continues after a failure, and after its job was lost', async () => {
    let failures = 2
    const { db, accounts, erasing, remove } = await prepare([
      async (tx, id, limit) => {
        failures -= 1
        if (failures >= 0) throw new Error('the disk is full')
        return eraseEvents(tx, id, limit)
      },
    ])
    const { id } = await accounts.link()
    await remove(id)
    await db.transaction((tx) => tx.deleteFrom('jobs').where('key', '=', id).execute())
    await erasing.start()
    await eventually(async () => expect((await left(db)).erasures).toEqual([]))
    expect((await left(db)).events).toEqual([{ accountId: id, type: 'account.deleted' }])
  })

  it('stops between two parts, and another process finishes the erasure', async () => {
    let began = () => {}
    const inside = new Promise<void>((resolve) => {
      began = resolve
    })
    let endless = true
    const endlessly: Erase = async () => {
      began()
      return endless ? 1 : 0
    }
    const { db, accounts, erasing, remove, jobs } = await prepare([endlessly])
    const { id } = await accounts.link()
    await remove(id)
    await erasing.start()
    await inside
    await erasing.stop()
    expect((await left(db)).erasures).toEqual([{ accountId: id }])
    endless = false
    current = erasure({
      db,
      queue: jobs,
      clock: systemClock,
      log: silentLog,
      erase: [endlessly],
      forget: async () => {},
    })
    await current.start()
    await eventually(async () => expect((await left(db)).erasures).toEqual([]))
  })
})
