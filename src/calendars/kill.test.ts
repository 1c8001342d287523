import { expect, it } from 'vitest'
import { describeOneDatabase } from '../../test/kit/database/database.ts'
import { runCalendarCrashes } from '../../test/scenarios/calendar-crashes.ts'

const KILLS = 4

describeOneDatabase('a process killed while it syncs calendars', 'sqlite', (open) => {
  it('announces every change exactly once', async () => {
    const place = await open.place()
    const changes = await runCalendarCrashes(await open(place), place, { kills: KILLS, events: 40 })
    expect(changes).toBe(KILLS * 12)
  })
})
