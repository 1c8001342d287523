import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { readPlans } from '../../../test/kit/database/plans.ts'
import { storedBusy } from '../availability/stored-busy.ts'
import { eventStore } from '../store.ts'
import { type Position, readRange, type StoredRange } from './range.ts'

const TABLES = 'calendarEvents|calendarInstances'
const FULL_SCAN = new RegExp(String.raw`SCAN (${TABLES}|e|i)\b|Seq Scan on "?(${TABLES})\b`)
/** Sorts within the instances of one event, and of two pages that become one, are allowed. */
const SORTED = /(?<!SCAN (short|long)\s+USE )TEMP B-TREE FOR ORDER BY|^\s*(->\s*)?Sort {2}/m
const DAY_MS = 24 * 60 * 60 * 1000
const NOW = Date.UTC(2026, 10, 20)

describeEachDatabase('the statements of calendar lists', (open) => {
  const month = { from: NOW, to: NOW + 31 * DAY_MS }
  const lists: [string, Partial<StoredRange>][] = [
    ['events by start', {}],
    ['events by last change', { order: 'updated' }],
    ['instances by start', { isExpanded: true }],
    ['instances of a month by last change', { isExpanded: true, order: 'updated' }],
    ['events with words', { words: ['lunch'] }],
    ['instances with words', { words: ['lunch'], isExpanded: true }],
  ]

  it.each(lists)('%s are read in index order', async (_, list) => {
    const db = await open()
    const stored: StoredRange = {
      calendarId: 'cal_1',
      range: month,
      isExpanded: false,
      words: [],
      order: 'startTime',
      ...list,
    }
    for (const after of [undefined, [NOW, 'cev_1', ''] satisfies Position]) {
      const plans = await readPlans(db, (tx) => readRange(tx, stored, { after, offset: 0, limit: 51 }))
      expect(plans.length).toBeGreaterThan(0)
      for (const plan of plans) {
        expect(plan).not.toMatch(FULL_SCAN)
        expect(plan).not.toMatch(SORTED)
      }
    }
  })

  it('busy times are read in index order', async () => {
    const db = await open()
    const plans = await readPlans(db, (tx) =>
      storedBusy(tx, { id: 'cal_1', timeZone: 'UTC' }, { range: month, floatingZone: 'UTC' }),
    )
    expect(plans).toHaveLength(1)
    for (const plan of plans) {
      expect(plan).not.toMatch(FULL_SCAN)
      // Two pages, each in order, become one.
      expect(plan).not.toMatch(/TEMP B-TREE FOR GROUP BY[\s\S]*TEMP B-TREE FOR GROUP BY/)
    }
  })

  it('instances of a day by last change, and the rows of a round, scan no table', async () => {
    const db = await open()
    const day: StoredRange = {
      calendarId: 'cal_1',
      range: { from: NOW, to: NOW + DAY_MS },
      isExpanded: true,
      words: [],
      order: 'updated',
    }
    const plans = await readPlans(db, async (tx) => {
      await readRange(tx, day, { offset: 0, limit: 51 })
      const store = eventStore(tx, 'cal_1')
      await store.beforeRound(2, 50)
      await store.after('p', 50)
      await store.shownByIds(['cev_1'])
      await store.byProviderIds(['p'])
      await store.findExceptions('p')
      await store.find('p')
    })
    for (const plan of plans) expect(plan).not.toMatch(FULL_SCAN)
    for (const plan of plans.slice(2, 4)) expect(plan).not.toMatch(SORTED)
  })
})
