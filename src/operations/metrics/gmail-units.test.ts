import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { silentLog } from '../../platform/log/index.ts'
import { fixedClock } from '../../platform/time/clock.ts'
import { gmailUnits } from './gmail-units.ts'

describeEachDatabase('units of the quota of Gmail', (open) => {
  it('are counted per day of California, over instances and restarts', async () => {
    const db = await open()
    const log = silentLog
    const clock = fixedClock(Date.parse('2026-11-27T20:00:00Z'))
    const units = gmailUnits({ db, clock, log })
    const other = gmailUnits({ db, clock, log })
    units.add(20)
    units.add(100)
    expect([await units.today(), await other.today()]).toEqual([120, 0])
    await units.stop()
    other.add(5)
    await other.stop()
    expect([await units.today(), await gmailUnits({ db, clock, log }).today()]).toEqual([125, 125])
    // Midnight in Los Angeles.
    clock.advance(12 * 3_600_000)
    const next = gmailUnits({ db, clock, log })
    expect(await next.today()).toBe(0)
    next.add(7)
    await next.stop()
    expect(await next.today()).toBe(7)
    const days = await db.read.selectFrom('serviceState').select('name').where('name', 'like', 'gmailUnits.%').execute()
    expect(days).toEqual([{ name: 'gmailUnits.2026-11-28' }])
  })
})
