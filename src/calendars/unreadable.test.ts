import { expect, it } from 'vitest'
import { scriptedCalendar } from '../../test/kit/calendars/scripted-calendar.ts'
import { describeEachDatabase } from '../../test/kit/database/database.ts'

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

  it('have the hours that the provider shows of a series that it does not return, until it returns the series', async () => {
    const db = await open()
    const calendar = await scriptedCalendar(db, ['lunch'])
    await calendar.sync()
    calendar.refuse('series', '08', '14')
    expect(await calendar.sync()).toEqual(['series: Refused.'])
    expect(await calendar.stored()).toEqual([' 1', 'lunch 1'])
    expect(await calendar.readHours('series')).toEqual([8, 14])
    // Another page of the listing.
    calendar.refuse('series', '07', '11')
    expect(await calendar.sync()).toEqual([])
    expect(await calendar.readHours('series')).toEqual([7, 8, 11, 14])
    expect(calendar.askedAgain.at(-1)).toEqual([])

    const due = () => db.transaction((tx) => tx.updateTable('unreadableEvents').set({ nextAttemptAt: 0 }).execute())
    calendar.refuse('series')
    await due()
    await calendar.sync()
    expect(calendar.askedAgain.at(-1)).toEqual(['series'])
    const row = await db.read.selectFrom('unreadableEvents').selectAll().executeTakeFirstOrThrow()
    expect(row).toMatchObject({ failures: 3, nextAttemptAt: expect.any(Number) })
    expect(Number(row.nextAttemptAt) - Date.now()).toBeGreaterThan(15_000)
    expect(await calendar.readHours('series')).toEqual([7, 8, 11, 14])

    calendar.put('series', 'Standup')
    await due()
    await calendar.sync()
    expect(await calendar.stored()).toEqual(['Standup 3', 'lunch 1'])
    expect(await calendar.unreadable()).toEqual([])
    const types = (await calendar.announced()).map(({ type }) => type)
    expect(types).toEqual(['calendar.event.created', 'calendar.event.updated', 'calendar.event.updated'])
  })

  it('keep the stored version of a series that the provider no longer returns', async () => {
    const calendar = await scriptedCalendar(await open(), ['series'])
    await calendar.sync()
    calendar.refuse('series', '07')
    await calendar.sync()
    expect(await calendar.stored()).toEqual(['series 1'])
    expect(await calendar.readHours('series')).toEqual([9])
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
