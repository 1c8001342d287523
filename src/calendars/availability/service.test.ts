import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { fc } from '../../../test/kit/random/random.ts'
import { insertRows } from '../../platform/db/index.ts'
import { buildSlots } from './service.ts'
import { storedBusy } from './stored-busy.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const BEGIN = Date.UTC(2026, 10, 20)
const minute = (max: number) => fc.integer({ min: 0, max })

describeEachDatabase('a slot', (open) => {
  it('is available if and only if no busy instance overlaps it', async () => {
    const db = await open()
    let calendars = 0
    const instance = fc.record({
      start: minute(5 * 24 * 60),
      minutes: fc.oneof(minute(90), minute(3 * 24 * 60)),
      isBusy: fc.boolean(),
    })
    const property = fc.asyncProperty(
      fc.array(instance, { maxLength: 30 }),
      minute(3 * 24 * 60),
      fc.integer({ min: 60, max: 2 * 24 * 60 }),
      fc.integer({ min: 5, max: 240 }),
      async (instances, fromMinute, lengthMinutes, interval) => {
        calendars += 1
        const calendarId = `cal_${calendars}`
        const rows = instances.map(({ start, minutes, isBusy }, index) => {
          const [startMs, endMs] = [BEGIN + start * MINUTE_MS, BEGIN + (start + minutes) * MINUTE_MS]
          const isLong = Number(endMs - startMs > DAY_MS)
          const id = { eventId: `cev_${calendars}_${index}`, calendarId, originalStart: '' }
          return { ...id, startMs, endMs, isLong, isBusy: Number(isBusy), isFloating: 0 }
        })
        await db.transaction((tx) => insertRows(tx, 'calendarInstances', rows))
        const from = BEGIN + fromMinute * MINUTE_MS
        const range = { from, to: from + lengthMinutes * MINUTE_MS }
        const busy = await storedBusy(db.read, { id: calendarId, timeZone: 'UTC' }, { range, floatingZone: 'UTC' })
        const participants = new Map([['ada', { busy, source: 'stored' as const, syncedAt: 0 }]])
        const slots = await buildSlots(range, interval * MINUTE_MS, participants)
        expect(slots).toHaveLength(Math.floor(lengthMinutes / interval))
        for (const { start, end, participants } of slots) {
          const [startMs, endMs] = [Date.parse(start), Date.parse(end)]
          const overlaps = rows.some(
            (row) => row.isBusy === 1 && row.endMs > row.startMs && row.startMs < endMs && row.endMs > startMs,
          )
          expect(participants).toEqual(overlaps ? [] : ['ada'])
        }
      },
    )
    await fc.assert(property, { numRuns: 40 })
  })

  it('knows every instance of a full calendar', async () => {
    const db = await open()
    const instance = (index: number, minutes: number) => {
      const startMs = BEGIN + index * 10 * MINUTE_MS
      const id = { eventId: `cev_${index}_${minutes}`, calendarId: 'cal_1', originalStart: '' }
      return { ...id, startMs, endMs: startMs + minutes * MINUTE_MS, isLong: 0, isBusy: 1, isFloating: 0 }
    }
    const rows = Array.from({ length: 2200 }, (_, index) => instance(index, 5))
    for (let index = 1950; index < 2050; index += 1) rows.push(instance(index, 1))
    await db.transaction((tx) => insertRows(tx, 'calendarInstances', rows))
    const busy = await storedBusy(
      db.read,
      { id: 'cal_1', timeZone: 'UTC' },
      { range: { from: BEGIN, to: BEGIN + 62 * DAY_MS }, floatingZone: 'UTC' },
    )
    expect(busy).toHaveLength(2200)
    expect(busy.every(({ from, to }) => to - from === 5 * MINUTE_MS)).toBe(true)
  })
})
