import { expect, it } from 'vitest'
import { describeEachDatabase } from '../kit/database/database.ts'
import { runCalendarCrashes } from '../scenarios/calendar-crashes.ts'

const KILLS = 100

describeEachDatabase('a process that syncs calendars', (open, engine) => {
  it(`announces every change exactly once over ${KILLS} kills`, { timeout: 1_800_000 }, async () => {
    const place = await open.place()
    const changes = await runCalendarCrashes(await open(place), place, { kills: KILLS, events: 2000 })
    console.log(`${engine}: ${KILLS} kills, ${changes} changes, each announced once`)
    expect(changes).toBe(KILLS * 12)
  })
})
