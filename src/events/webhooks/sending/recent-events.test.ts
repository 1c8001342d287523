import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { sampleEvent } from '../../../../test/kit/events/events.ts'
import { insertRows } from '../../../platform/db/index.ts'
import { fixedClock } from '../../../platform/time/clock.ts'
import type { EventRow } from '../../index.ts'
import { RecentEvents } from './recent-events.ts'

const DATA = JSON.stringify(sampleEvent('webhook.endpoint_disabled').data)
/** Two events and a half. */
const LIMIT = Math.floor(2.5 * DATA.length)

describeEachDatabase('recent events', (databases) => {
  const clock = fixedClock(1_700_000_000_000)
  const event = (id: string): EventRow => ({
    id,
    type: 'webhook.endpoint_disabled',
    accountId: null,
    provider: null,
    sequence: null,
    objectId: null,
    version: null,
    data: DATA,
    position: 1,
    fanOut: 1,
    createdAt: 1,
  })
  const about = (...ids: string[]) => ids.map((eventId) => ({ eventId }))
  async function stored(...ids: string[]) {
    const db = await databases()
    const rows = ids.map((id, index) => ({ ...event(id), position: index + 1 }))
    await db.transaction((tx) => insertRows(tx, 'events', rows))
    return db.read
  }

  it('are given out without a read, once for each delivery', async () => {
    const handle = await stored()
    const recent = new RecentEvents(clock, LIMIT)
    recent.add([event('evt_1'), event('evt_2')], about('evt_1', 'evt_1', 'evt_2'))
    expect([...(await recent.take(handle, about('evt_1', 'evt_2'))).keys()]).toEqual(['evt_1', 'evt_2'])
    expect([...(await recent.take(handle, about('evt_1', 'evt_2'))).keys()]).toEqual(['evt_1'])
    expect((await recent.take(handle, about('evt_1'))).size).toBe(0)
  })

  it('are read when they are not recent, and missing when they were deleted', async () => {
    const handle = await stored('evt_1', 'evt_3')
    const recent = new RecentEvents(clock, LIMIT)
    recent.add([event('evt_2'), event('evt_4')], about('evt_2'))
    const found = await recent.take(handle, about('evt_1', 'evt_2', 'evt_3', 'evt_4'))
    expect([...found.keys()].sort()).toEqual(['evt_1', 'evt_2', 'evt_3'])
    expect(found.get('evt_2')).toEqual(event('evt_2'))
  })

  it('are forgotten when there are many, the oldest first', async () => {
    const handle = await stored()
    const recent = new RecentEvents(clock, LIMIT)
    const ids = ['evt_1', 'evt_2', 'evt_3', 'evt_4']
    recent.add(ids.map(event), about(...ids))
    expect([...(await recent.take(handle, about(...ids))).keys()]).toEqual(['evt_3', 'evt_4'])
    recent.add([event('evt_5'), event('evt_6')], about('evt_5', 'evt_6'))
    expect((await recent.take(handle, about('evt_5', 'evt_6'))).size).toBe(2)
  })

  it('are forgotten after half a minute', async () => {
    const handle = await stored()
    const recent = new RecentEvents(clock, LIMIT)
    recent.add([event('evt_1')], about('evt_1', 'evt_1'))
    clock.advance(29_000)
    recent.purge()
    expect((await recent.take(handle, about('evt_1'))).size).toBe(1)
    clock.advance(2000)
    expect((await recent.take(handle, about('evt_1'))).size).toBe(0)
  })
})
