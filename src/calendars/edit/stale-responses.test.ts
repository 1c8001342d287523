import { expect, it } from 'vitest'
import { scriptedCalendar } from '../../../test/kit/calendars/scripted-calendar.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'

const options = { sendUpdates: 'all', scope: undefined, ifMatch: undefined } as const

describeEachDatabase('the response to a change of an event that is older than what is known', (open) => {
  async function opened() {
    const calendar = await scriptedCalendar(await open(), ['a', 'b'])
    await calendar.sync()
    const path = { accountId: calendar.accountId, calendarId: 'work', eventId: await calendar.findId('a') }
    const update = (summary: string) => calendar.changer.update(path, { summary }, options)
    return { ...calendar, update, id: path.eventId }
  }

  it('does not undo what another program changed back and sync has read', async () => {
    const { update, put, sync, meanwhile, stored, announced, id } = await opened()
    meanwhile('change', async () => {
      put('a')
      await sync()
    })
    expect(await update('changed')).toMatchObject({ id, summary: 'a', version: 1 })
    expect(await stored()).toEqual(['a 1', 'b 1'])
    await sync()
    expect(await announced()).toEqual([])
  })

  it('does not undo a later change through the API that made the event as it was', async () => {
    const { update, sync, meanwhile, stored, announced } = await opened()
    meanwhile('change', async () => void (await update('a')))
    await update('changed')
    expect(await stored()).toEqual(['a 1', 'b 1'])
    await sync()
    expect(await stored()).toEqual(['a 1', 'b 1'])
    expect(await announced()).toEqual([])
  })

  it('does not restore an event whose deletion sync has read', async () => {
    const { update, drop, sync, meanwhile, stored, announced, id } = await opened()
    meanwhile('change', async () => {
      drop('a')
      await sync()
    })
    expect(await update('changed')).toMatchObject({ id, summary: 'changed' })
    await sync()
    expect(await stored()).toEqual(['b 1'])
    expect((await announced()).map(({ type }) => type)).toEqual(['calendar.event.deleted'])
  })

  it('is replaced by the state of now when sync has read the event before the change, and announced once', async () => {
    const { update, put, sync, meanwhile, stored, announced } = await opened()
    put('a')
    put('b', 'other')
    let release = () => {}
    const response = new Promise<void>((resolve) => {
      release = resolve
    })
    let updated: Promise<unknown> | undefined
    const isMade = (made: () => void) => {
      meanwhile('change', () => {
        made()
        return response
      })
      updated = update('changed')
    }
    meanwhile('listing', () => new Promise(isMade))
    await sync()
    release()
    expect(await updated).toMatchObject({ summary: 'changed', version: 2 })
    expect(await stored()).toEqual(['changed 2', 'other 2'])
    await sync()
    expect(await stored()).toEqual(['changed 2', 'other 2'])
    const shown = (await announced()).map(({ data }) => `${data.summary} ${data.version}`)
    expect(shown).toEqual(['other 2', 'changed 2'])
  })
})
