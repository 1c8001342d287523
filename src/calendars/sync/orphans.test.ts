import { expect, it } from 'vitest'
import { scriptedCalendar } from '../../../test/kit/calendars/scripted-calendar.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'

describeEachDatabase('an invitation to one instance of a series', (open) => {
  it('goes with the object that contained nothing else', async () => {
    const calendar = await scriptedCalendar(await open(), ['lunch'])
    calendar.putInstanceOf('/c/1.ics')
    await calendar.sync()
    expect(await calendar.stored()).toEqual(['/c/1.ics#instance 1', 'lunch 1'])
    calendar.drop('/c/1.ics')
    await calendar.sync()
    expect(await calendar.stored()).toEqual(['lunch 1'])
  })
})
