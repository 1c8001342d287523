import { expect, it } from 'vitest'
import { hoursTomorrow, scriptedCalendar } from '../../../test/kit/calendars/scripted-calendar.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'

describeEachDatabase('a sync of calendars that read events before a change through the API', (open) => {
  it('does not undo the change, and announces nothing twice', async () => {
    const db = await open()
    const { accountId, changer, put, sync, meanwhile, reads, stored, announced } = await scriptedCalendar(db, [
      'a',
      'b',
    ])
    await sync()
    put('a')
    put('b')

    const path = { accountId, calendarId: 'work' }
    const options = { sendUpdates: 'all', scope: undefined, ifMatch: undefined } as const
    meanwhile('listing', async () => {
      await changer.update({ ...path, eventId: 'a' }, { summary: 'changed' }, options)
      await changer.remove({ ...path, eventId: 'b' }, options)
      const body = { summary: 'created', ...hoursTomorrow('09', '10') }
      const store = await changer.create(path, body, { requestKey: null, sendUpdates: 'all' })
      await db.transaction(store)
    })
    await sync()
    await sync()
    expect(await stored()).toEqual(['changed 2', 'created 1'])
    expect((await announced()).map(({ type, data }) => `${type.slice(15)} ${data.summary} ${data.version}`)).toEqual([
      'updated changed 2',
      'deleted b 2',
      'created created 1',
    ])
    expect(reads()).toBe(4)

    // Killed before the commit: sync announces the event, and the repeated request finds it.
    const body = { summary: 'killed', ...hoursTomorrow('09', '10') }
    const request = () => changer.create(path, body, { requestKey: 'key', sendUpdates: 'all' })
    await request()
    await sync()
    const { id } = await db.transaction(await request())
    await sync()
    const last = (await announced()).slice(-2).map(({ type, data }) => `${type} ${data.id}`)
    expect(last).toEqual([expect.stringContaining('calendar.event.created'), `calendar.event.created ${id}`])
    expect(last[0]).not.toBe(last[1])
  })
})
