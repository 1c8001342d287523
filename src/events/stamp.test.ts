import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { describeEachDatabase, describePostgres } from '../../test/kit/database/database.ts'
import { explain } from '../../test/kit/database/explain.ts'
import { buildEvent, sampleEvent } from '../../test/kit/events/events.ts'
import { catalogue } from '../app/feature-list.ts'
import { memoryBus } from '../platform/bus/index.ts'
import type { Db, Handle } from '../platform/db/index.ts'
import { idGenerator } from '../platform/ids.ts'
import { silentLog } from '../platform/log/index.ts'
import { fixedClock } from '../platform/time/clock.ts'
import { type EventRow, type NewEvent, nextEvents, recorder, stampEvents } from './index.ts'
import { stampNext } from './stamp.ts'

function makeRecorder(nowMs = 1_700_000_000_000) {
  const clock = fixedClock(nowMs)
  return recorder({ catalogue, clock, ids: idGenerator(clock), bus: memoryBus({ log: silentLog }) })
}

function event(accountId: string | null, objectId = 'msg_1'): NewEvent {
  return { ...sampleEvent('message.received'), accountId, objectId, version: 1 }
}

async function stampAll(db: Db, batch: number): Promise<EventRow[]> {
  const all: EventRow[] = []
  for (;;) {
    const stamped = await db.transaction((tx) => stampEvents(tx, db.dialect, batch))
    if (stamped?.length === 0) return all
    all.push(...(stamped ?? []))
  }
}

const positions = (rows: readonly EventRow[]) => rows.map((row) => row.position)
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

describeEachDatabase('stamping events', (open) => {
  it('numbers events in the order they were recorded, batch after batch, without gaps', async () => {
    const db = await open()
    const { record } = makeRecorder()
    const ids: string[] = []
    for (let i = 0; i < 5; i += 1) {
      ids.push(...(await db.transaction((tx) => record(tx, [event('acc_1', `msg_${i}`), event(null, `msg_${i}`)]))))
    }
    const stamped = await stampAll(db, 3)
    expect(stamped.map((row) => row.id)).toEqual(ids)
    expect(positions(stamped)).toEqual(upTo(10))
    expect(stamped[0]).toMatchObject({
      type: 'message.received',
      objectId: 'msg_0',
      version: 1,
      sequence: 1,
      fanOut: 1,
    })
    expect(JSON.parse(stamped[0]?.data ?? '')).toEqual(event('acc_1').data)
  })

  it('stamps each event once, and returns nothing when no event is new', async () => {
    const db = await open()
    const { record } = makeRecorder()
    await db.transaction((tx) => record(tx, [event('acc_1')]))
    expect(await stampAll(db, 10)).toHaveLength(1)
    expect(await stampAll(db, 10)).toEqual([])
    await db.transaction((tx) => record(tx, [event('acc_1')]))
    expect(positions(await stampAll(db, 10))).toEqual([2])
  })

  it('reuses the positions of a rolled-back stamping', async () => {
    const db = await open()
    const { record } = makeRecorder()
    await db.transaction((tx) => record(tx, [event('acc_1'), event('acc_1')]))
    const failed = db.transaction(async (tx) => {
      await stampEvents(tx, db.dialect, 10)
      throw new Error('rolled back')
    })
    await expect(failed).rejects.toThrow('rolled back')
    expect(positions(await stampAll(db, 10))).toEqual([1, 2])
  })

  it('keeps the order of an account when the second writer has a slower clock', async () => {
    const db = await open()
    const ahead = makeRecorder(1_700_000_000_500)
    const behind = makeRecorder(1_700_000_000_000)
    await db.transaction((tx) => ahead.record(tx, [event('acc_1', 'first')]))
    await db.transaction((tx) => behind.record(tx, [event('acc_1', 'second'), event('acc_2', 'other')]))
    const ofAccount = (await stampAll(db, 10)).filter((row) => row.accountId === 'acc_1')
    expect(ofAccount.map((row) => row.objectId)).toEqual(['first', 'second'])
  })

  it('stamps every event once when two replicas record and stamp concurrently', async () => {
    const place = await open.place()
    const opened = await open(place)
    // The file store has only one process: there both recorders share one handle.
    const other = opened.engine === 'sqlite' ? opened : await open(place)
    const recorders = [makeRecorder(), makeRecorder(1_700_000_000_003)]
    const seen: EventRow[] = []
    const writing = Array.from({ length: 60 }, async (_, i) => {
      const db = i % 2 === 0 ? opened : other
      await db
        .transaction(async (tx) => {
          await recorders[i % 2]?.record(tx, [event(`acc_${i % 3}`, `msg_${i}`), event(null, `msg_${i}`)])
          if (i % 5 === 0) throw new Error('rolled back')
        })
        .catch((error: Error) => expect(error.message).toBe('rolled back'))
    })
    const stamping = [opened, other].map(async (db) => {
      let isWritten = false
      void Promise.all(writing).then(() => {
        isWritten = true
      })
      for (;;) {
        const last = isWritten
        const stamped = await db.transaction((tx) => stampEvents(tx, db.dialect, 7))
        seen.push(...(stamped ?? []))
        if (last && stamped?.length === 0) return
        await new Promise((resolve) => setImmediate(resolve))
      }
    })
    await Promise.all([...writing, ...stamping])
    expect(seen).toHaveLength(96)
    expect(positions(seen).sort((a, b) => (a ?? 0) - (b ?? 0))).toEqual(upTo(96))
    for (const account of ['acc_0', 'acc_1', 'acc_2']) {
      const sequences = seen.filter((row) => row.accountId === account).map((row) => row.sequence ?? 0)
      expect(sequences.sort((a, b) => a - b)).toEqual(upTo(16))
    }
  })

  it('finds unstamped events through their partial index', async () => {
    const db = await open()
    const scans = /SCAN events(?! USING (COVERING )?INDEX events_id_partial)|Seq Scan on events/
    const ways = [(handle: Handle) => stampNext(handle, 0, 100), (handle: Handle) => nextEvents(handle, 100)]
    for (const way of ways) {
      const plan = await explain(db, way)
      expect(plan).toContain('events_id_partial')
      expect(plan).not.toMatch(scans)
    }
    expect(await explain(db, (handle) => stampNext(handle, 0, ['evt_1', 'evt_2']))).not.toMatch(scans)
  })

  it('stamps exactly the events that were read before', async () => {
    const db = await open()
    const { record } = makeRecorder()
    await db.transaction((tx) => record(tx, [event('acc_1'), event('acc_2'), event('acc_1')]))
    const seen = await nextEvents(db.read, 2)
    const [first] = (await db.transaction((tx) => stampEvents(tx, db.dialect, 1))) ?? []
    expect(seen.map(({ id }) => id)[0]).toBe(first?.id)
    const chosen = seen.map(({ id }) => id)
    const stamped = await db.transaction((tx) => stampEvents(tx, db.dialect, chosen))
    expect(stamped).toEqual([{ ...seen[1], position: 2 }])
    expect(await db.transaction((tx) => stampEvents(tx, db.dialect, chosen))).toEqual([])
    expect(await nextEvents(db.read, 10)).toHaveLength(1)
  })
})

// On the file store transactions never overlap.
describePostgres('stamping events on several replicas', (open) => {
  it('returns undefined while another replica stamps', async () => {
    const place = await open.place()
    const [one, other] = [await open(place), await open(place)]
    await one.transaction((tx) => makeRecorder().record(tx, [event('acc_1')]))
    await one.transaction(async (tx) => {
      expect(await stampEvents(tx, one.dialect, 10)).toHaveLength(1)
      expect(await other.transaction((second) => stampEvents(second, other.dialect, 10))).toBeUndefined()
    })
    expect(await stampAll(other, 10)).toEqual([])
  })
})

describeEachDatabase('recording events', (open) => {
  it('numbers the events of an account without gaps, despite rollbacks', async () => {
    const db = await open()
    const { record } = makeRecorder()
    await db.transaction((tx) => record(tx, [event('acc_1'), event('acc_2'), event('acc_1')]))
    const failed = db.transaction(async (tx) => {
      await record(tx, [event('acc_1'), event('acc_1')])
      throw new Error('rolled back')
    })
    await expect(failed).rejects.toThrow('rolled back')
    await db.transaction((tx) => record(tx, [event('acc_1'), event(null)]))
    const { rows } = await sql<{ owner: string | null; sequence: number | null }>`
      select "accountId" as "owner", "sequence" from "events" order by "id"`.execute(db.read)
    expect(rows.map(({ owner, sequence }) => [owner, sequence])).toEqual([
      ['acc_1', 1],
      ['acc_2', 1],
      ['acc_1', 2],
      ['acc_1', 3],
      [null, null],
    ])
  })

  it('publishes a hint for a commit but not for a rollback', async () => {
    const db = await open()
    const clock = fixedClock(0)
    const bus = memoryBus({ log: silentLog })
    let hints = 0
    bus.subscribe('events', () => {
      hints += 1
    })
    const { record } = recorder({ catalogue, clock, ids: idGenerator(clock), bus })
    await db.transaction((tx) => record(tx, [event('acc_1')]))
    await db
      .transaction(async (tx) => {
        await record(tx, [event('acc_1')])
        throw new Error('rolled back')
      })
      .catch(() => {})
    await db.transaction((tx) => record(tx, []))
    expect(hints).toBe(1)
  })

  it('records more events than one statement carries', async () => {
    const db = await open()
    const { record } = makeRecorder()
    const ids = await db.transaction((tx) =>
      record(
        tx,
        Array.from({ length: 450 }, (_, i) => event(`acc_${i % 7}`)),
      ),
    )
    expect(new Set(ids).size).toBe(450)
    expect(await stampAll(db, 500)).toHaveLength(450)
  })

  it('cleans text, and rejects data over 256 KB and undeclared types', async () => {
    const db = await open()
    const { record } = makeRecorder()
    await db.transaction((tx) => record(tx, [buildEvent({ data: { subject: 'a\0b\ud800' } })]))
    const [row] = await stampAll(db, 1)
    expect(JSON.parse(row?.data ?? '')).toMatchObject({ subject: 'ab\ufffd' })
    const large = buildEvent({ data: { body: { text: 'x'.repeat(256 * 1024), html: null } } })
    await expect(db.transaction((tx) => record(tx, [large]))).rejects.toThrow()
    const undeclared = { ...buildEvent({}), type: 'message.vanished' }
    await expect(db.transaction((tx) => record(tx, [undeclared]))).rejects.toThrow(/not declared/)
  })
})
