import { expect, it } from 'vitest'
import { experienceWith } from '../../../test/kit/booking/experience.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { readPlans } from '../../../test/kit/database/plans.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import type { Db } from '../../platform/db/index.ts'
import type { Experience } from '../experiences/experience.ts'
import { type BlockOwner, blockStore } from './blocks.ts'

const MINUTE_MS = 60_000
const at = (text: string, date = '2026-11-23') => Date.parse(`${date}T${text}:00Z`)
const slot = (start: string, end: string, date?: string) => ({ start: at(start, date), end: at(end, date) })
const nowMs = at('00:00')
const experience = experienceWith({ bufferBeforeMinutes: 10, bufferAfterMinutes: 20 }, { timezone: 'UTC' })
const owner = (id: string, ...hostIds: string[]): BlockOwner => ({ id, hostIds, expiresAt: null })

describeEachDatabase('blocks', (open, engine) => {
  const take = (db: Db, taken: ReturnType<typeof slot>, by: BlockOwner, of: Experience = experience) =>
    db.transaction((tx) => blockStore(tx).insert(of, taken, by))

  it('are listed by host and range with their buffers, without expired holds', async () => {
    const db = await open()
    await take(db, slot('10:00', '10:30'), owner('bkg_1', 'acc_a', 'acc_b'))
    await take(db, slot('11:00', '11:30'), { ...owner('hld_1', 'acc_a'), expiresAt: nowMs + 1 })
    await take(db, slot('12:00', '12:30'), owner('bkg_2', 'acc_c'))
    const list = async (hostIds: string[], from: string, to: string, query = {}) => {
      const rows = await blockStore(db.read).list(hostIds, { from: at(from), to: at(to) }, { nowMs, ...query })
      return rows.map(({ ownerId, hostId }) => `${ownerId} ${hostId}`).sort()
    }
    expect(await list(['acc_a', 'acc_b'], '00:00', '23:59')).toEqual(['bkg_1 acc_a', 'bkg_1 acc_b', 'hld_1 acc_a'])
    expect(await list(['acc_a'], '00:00', '23:59', { nowMs: nowMs + 1 })).toEqual(['bkg_1 acc_a'])
    expect(await list(['acc_a'], '00:00', '23:59', { except: ['bkg_1', 'hld_2'] })).toEqual(['hld_1 acc_a'])
    // 09:50 to 10:50; ranges that only touch do not overlap.
    expect(await list(['acc_a'], '09:00', '09:50')).toEqual([])
    expect(await list(['acc_a'], '09:00', '09:51')).toEqual(['bkg_1 acc_a'])
    expect(await list(['acc_b'], '10:50', '12:00')).toEqual([])
    expect(await list(['acc_b'], '10:49', '12:00')).toEqual(['bkg_1 acc_b'])
    const many = Array.from({ length: 30 }, (_, index) => `acc_${index}`)
    expect(await list([...many, 'acc_c'], '00:00', '23:59')).toEqual(['bkg_2 acc_c'])
    const [row] = await blockStore(db.read).list(['acc_c'], { from: at('00:00'), to: at('23:59') }, { nowMs })
    expect(row).toEqual({
      ownerId: 'bkg_2',
      hostId: 'acc_c',
      experienceId: 'exp_1',
      startMs: at('12:00'),
      endMs: at('12:30'),
      blockedFrom: at('11:50'),
      blockedTo: at('12:50'),
      day: '2026-11-23',
      expiresAt: null,
    })
  })

  it('conflict with a slot that is too near, whatever experience they are of', async () => {
    const db = await open()
    await take(db, slot('10:00', '10:30'), owner('bkg_1', 'acc_a'))
    const other = experienceWith({ bufferBeforeMinutes: 15 }, { id: 'exp_2', timezone: 'UTC' })
    const conflicts = async (of: Experience, start: string, end: string, except: string[] = []) => {
      const found = await blockStore(db.read).conflicts(of, ['acc_a', 'acc_b'], slot(start, end), { nowMs, except })
      return [...found]
    }
    expect(await conflicts(other, '09:20', '09:50')).toEqual([])
    expect(await conflicts(other, '09:20', '09:51')).toEqual(['acc_a'])
    expect(await conflicts(other, '10:50', '11:20')).toEqual([])
    expect(await conflicts(other, '10:49', '11:20')).toEqual(['acc_a'])
    expect(await conflicts(other, '10:49', '11:20', ['bkg_1'])).toEqual([])
    // Its own buffer of 20 minutes after is larger than the 10 minutes before the meeting.
    expect(await conflicts(experience, '09:10', '09:41')).toEqual(['acc_a'])
    expect(await conflicts(experience, '09:10', '09:40')).toEqual([])
  })

  it('fill the day of a host by experience, in the zone of the open hours', async () => {
    const db = await open()
    const daily = experienceWith({ maximumPerDay: 2, timezone: 'Pacific/Auckland' }, { id: 'exp_d' })
    // Auckland is 13 hours ahead: its 24th begins at 11:00.
    await take(db, slot('11:00', '11:30'), owner('bkg_1', 'acc_a'), daily)
    await take(db, slot('12:00', '12:30'), { ...owner('hld_1', 'acc_a', 'acc_b'), expiresAt: nowMs + 1 }, daily)
    await take(db, slot('14:00', '14:30'), owner('bkg_2', 'acc_b'))
    const full = async (start: string, end: string, query = {}) => [
      ...(await blockStore(db.read).conflicts(daily, ['acc_a', 'acc_b'], slot(start, end), { nowMs, ...query })),
    ]
    expect(await full('16:00', '16:30')).toEqual(['acc_a'])
    expect(await full('16:00', '16:30', { nowMs: nowMs + 1 })).toEqual([])
    expect(await full('16:00', '16:30', { except: ['bkg_1'] })).toEqual([])
    expect(await full('10:00', '10:30')).toEqual([])
    const counts = await blockStore(db.read).countPerDay(
      ...(['exp_d', ['acc_a', 'acc_b'], { first: '2026-11-23', last: '2026-11-24' }, { nowMs }] as const),
    )
    expect([...counts].map(([hostId, days]) => [hostId, ...days]).sort()).toEqual([
      ['acc_a', ['2026-11-24', 2]],
      ['acc_b', ['2026-11-24', 1]],
    ])
  })

  it('are what a host was given: bookings and holds within 15 days, and the latest booking', async () => {
    const db = await open()
    await take(db, slot('10:00', '10:30'), owner('bkg_2', 'acc_a'))
    await take(db, slot('10:00', '10:30', '2026-12-01'), owner('bkg_1', 'acc_a', 'acc_b'))
    await take(db, slot('10:00', '10:30', '2026-12-20'), owner('bkg_4', 'acc_b'))
    await take(db, slot('11:00', '11:30'), { ...owner('hld_1', 'acc_c'), expiresAt: nowMs + 1 })
    await take(db, slot('12:00', '12:30'), owner('bkg_9', 'acc_c'), experienceWith({}, { id: 'exp_2' }))
    const loads = await blockStore(db.read).loads(experience, ['acc_a', 'acc_b', 'acc_c'], slot('15:00', '15:30'), {
      nowMs,
    })
    expect([...loads].sort()).toEqual([
      ['acc_a', { count: 2, latest: 'bkg_2' }],
      ['acc_b', { count: 1, latest: 'bkg_4' }],
      // A hold that still lives is the host's, too.
      ['acc_c', { count: 1, latest: '' }],
    ])
  })

  it('end with their owner, and expired holds with the next booking of the host', async () => {
    const db = await open()
    await take(db, slot('10:00', '10:30'), owner('bkg_1', 'acc_a', 'acc_b'))
    await take(db, slot('11:00', '11:30'), { ...owner('hld_1', 'acc_a'), expiresAt: nowMs })
    await take(db, slot('12:00', '12:30'), { ...owner('hld_2', 'acc_b'), expiresAt: nowMs })
    const owners = async () => {
      const rows = await db.read.selectFrom('bookingBlocks').select(['ownerId', 'hostId']).orderBy('ownerId').execute()
      return rows.map(({ ownerId }) => ownerId)
    }
    await db.transaction((tx) => blockStore(tx).deleteExpired(['acc_a'], nowMs - 1))
    expect(await owners()).toEqual(['bkg_1', 'bkg_1', 'hld_1', 'hld_2'])
    await db.transaction((tx) => blockStore(tx).deleteExpired(['acc_a'], nowMs))
    expect(await owners()).toEqual(['bkg_1', 'bkg_1', 'hld_2'])
    await db.transaction((tx) => blockStore(tx).deleteOwner('bkg_1'))
    expect(await owners()).toEqual(['hld_2'])
  })

  it('are taken by one of many transactions at once', async () => {
    const db = await open()
    // On SQLite transactions begin one after the other.
    const atOnce = engine === 'sqlite' ? 1 : 4
    let begun = 0
    const hosts = (index: number) => (index % 2 === 0 ? ['acc_a', 'acc_b'] : ['acc_b', 'acc_a', 'acc_c'])
    const book = (index: number) =>
      db.transaction(async (tx) => {
        const store = blockStore(tx)
        const hostIds = hosts(index)
        begun += 1
        await eventually(() => expect(begun).toBeGreaterThanOrEqual(atOnce))
        await store.lockHosts(hostIds, db.dialect)
        const start = at('10:00') + index * MINUTE_MS
        const taken = { start, end: start + 30 * MINUTE_MS }
        if ((await store.conflicts(experience, hostIds, taken, { nowMs })).size > 0) return undefined
        await store.insert(experience, taken, owner(`bkg_${index}`, ...hostIds))
        return index
      })
    // Rows that exist are locked, too.
    await db.transaction((tx) => blockStore(tx).lockHosts(['acc_a', 'acc_b', 'acc_c'], db.dialect))
    const booked = await Promise.all(Array.from({ length: 8 }, (_, index) => book(index)))
    expect(booked.filter((index) => index !== undefined)).toHaveLength(1)
  })

  it('are read by index', async () => {
    const db = await open()
    const plans = await readPlans(db, async (tx) => {
      const store = blockStore(tx)
      const daily = experienceWith({ maximumPerDay: 2 })
      await store.conflicts(daily, ['acc_a', 'acc_b'], slot('10:00', '10:30'), { nowMs })
      await store.loads(daily, ['acc_a', 'acc_b'], slot('10:00', '10:30'), { nowMs })
      await store.deleteExpired(['acc_a', 'acc_b'], nowMs)
      await store.deleteOwner('bkg_1')
    })
    expect(plans).toHaveLength(5)
    for (const plan of plans) expect(plan).not.toMatch(/SCAN "?bookingBlocks|Seq Scan/)
  })
})
