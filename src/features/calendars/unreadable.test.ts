import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database.ts'
import { scriptedCalendar } from '../../../test/kit/scripted-calendar.ts'

describeEachDatabase('events that cannot be read', (open) => {
  it('are counted and reported once, and stay as they were stored', async () => {
    const calendar = await scriptedCalendar(await open(), ['lunch', 'review'])
    calendar.spoil('never', 'It has no start.')
    expect(await calendar.sync()).toEqual(['never: It has no start.'])
    calendar.spoil('lunch', 'Broken.')
    expect(await calendar.sync()).toEqual(['lunch: Broken.'])
    calendar.spoil('lunch', 'Broken.')
    expect(await calendar.sync()).toEqual([])
    expect(await calendar.unreadable()).toEqual(['lunch: Broken.', 'never: It has no start.'])
    expect(await calendar.stored()).toEqual(['lunch 1', 'review 1'])

    calendar.expire()
    expect(await calendar.sync()).toEqual([])
    expect(await calendar.stored()).toEqual(['lunch 1', 'review 1'])
    expect(await calendar.unreadable()).toEqual(['lunch: Broken.', 'never: It has no start.'])
  })

  it('are reported once, also with characters that no database takes', async () => {
    const calendar = await scriptedCalendar(await open(), ['lunch'])
    const spoiled = async () => {
      calendar.spoil('o\0dd', 'DTSTART "\0\ud800" is no time.')
      return calendar.sync()
    }
    expect(await spoiled()).toEqual(['odd: DTSTART "\ufffd" is no time.'])
    expect(await spoiled()).toEqual([])
    expect(await calendar.unreadable()).toEqual(['odd: DTSTART "\ufffd" is no time.'])
    expect(await calendar.stored()).toEqual(['lunch 1'])
  })

  it('are forgotten when they can be read, or no longer exist', async () => {
    const calendar = await scriptedCalendar(await open(), ['lunch'])
    for (const id of ['lunch', 'gone', 'forgotten']) calendar.spoil(id, 'Broken.')
    await calendar.sync()
    expect(await calendar.unreadable()).toHaveLength(3)
    calendar.put('lunch', 'Lunch')
    calendar.drop('gone')
    await calendar.sync()
    expect(await calendar.unreadable()).toEqual(['forgotten: Broken.'])
    // Deleted while the cursor expired.
    calendar.drop('forgotten')
    calendar.expire()
    await calendar.sync()
    expect(await calendar.unreadable()).toEqual([])
    expect(await calendar.stored()).toEqual(['Lunch 1'])
  })
})
