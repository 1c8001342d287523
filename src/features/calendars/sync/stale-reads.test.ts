import { expect, it } from 'vitest'
import { testAccounts } from '../../../../test/kit/accounts.ts'
import { describeEachDatabase } from '../../../../test/kit/database.ts'
import { catalogue } from '../../../app/event-catalogue.ts'
import { recorder } from '../../../events/index.ts'
import { systemClock } from '../../../lib/clock.ts'
import { idGenerator } from '../../../lib/ids.ts'
import type {
  CalendarAccount,
  CalendarChanges,
  RemoteCalendar,
  RemoteEvent,
} from '../../../providers/contract/index.ts'
import { calendarChanger } from '../changing/changer.ts'
import { calendarStore, eventStore } from '../store.ts'
import { syncCalendars } from './account.ts'

const CALENDAR: RemoteCalendar = {
  ...{ calendarId: 'work', summary: 'Work', description: '', timeZone: 'UTC', primary: true, selected: true },
  ...{ backgroundColor: null, foregroundColor: null, role: 'owner' },
}
const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
const at = (time: string) => ({ dateTime: `${tomorrow}T${time}:00`, timeZone: 'UTC' })
const eventOf = (eventId: string, summary = eventId): RemoteEvent => ({
  ...{ eventId, iCalUid: eventId, etag: null, status: 'confirmed', summary, description: '', location: '' },
  ...{ start: at('09:00'), end: at('10:00'), recurrence: [], recurringEventId: null, originalStart: null, busy: true },
  ...{ visibility: 'default', organizer: null, attendees: [], conference: null, reminders: [], htmlLink: null },
  ...{ createdAt: null, updatedAt: null },
})

describeEachDatabase('a sync of calendars that read events before a change through the API', (open) => {
  it('does not undo the change, and announces nothing twice', async () => {
    const db = await open()
    const { accounts, link, events: recorded, bus } = testAccounts(db)
    const { id: accountId } = await link()
    const clock = systemClock
    const ids = idGenerator(clock)
    const events = recorder({ catalogue, clock, ids, bus })

    /** A provider whose listing is on its way while the API changes its events. */
    const state = new Map(['a', 'b'].map((id) => [id, eventOf(id)]))
    let meanwhile = async () => {}
    let steps = 0
    const remote: CalendarAccount = {
      listCalendars: async () => [CALENDAR],
      async *syncEvents() {
        const found = [...state.values()]
        await meanwhile()
        steps += 1
        yield { found, entered: [], complete: [], removed: [], cursor: `${steps}` }
      },
      readRange: async () => [],
    }
    const put = (event: RemoteEvent) => {
      state.set(event.eventId, event)
      return event
    }
    const changes: CalendarChanges = {
      getEvent: async ({ eventId }) => state.get(eventId) ?? eventOf(eventId),
      createEvent: async ({ key, event }) => put(eventOf(key, event.summary)),
      updateEvent: async ({ eventId, changes: { summary } }) => put(eventOf(eventId, summary)),
      deleteEvent: async ({ eventId }) => void state.delete(eventId),
      respond: async () => null,
    }
    const calendars = () => ({ open: () => remote, changes: () => changes })
    const changer = calendarChanger({ db, clock, ids, events, accounts, calendars })
    const deps = { db, clock, ids, events, fence: async () => {}, windowMonths: [1, 12] as const }
    const { signal } = new AbortController()
    const sync = () => syncCalendars(deps, { accountId, epoch: 1, provider: 'imap', remote, signal }, () => true)
    await sync()

    const path = { accountId, calendarId: 'work' }
    const options = { sendUpdates: 'all', scope: undefined, ifMatch: undefined } as const
    meanwhile = async () => {
      meanwhile = async () => {}
      await changer.update({ ...path, eventId: 'a' }, { summary: 'changed' }, options)
      await changer.remove({ ...path, eventId: 'b' }, options)
      const time = (hour: string) => ({ dateTime: `${tomorrow}T${hour}:00:00Z` })
      const body = { summary: 'created', start: time('09'), end: time('10') }
      const store = await changer.create(path, body, { requestKey: null, sendUpdates: 'all' })
      await db.transaction(store)
    }
    await sync()
    await sync()
    const [calendar] = await calendarStore(db.read).all(accountId)
    const rows = await eventStore(db.read, calendar?.id ?? '').after('', 10)
    const shown = rows.map(({ content, version }) => `${JSON.parse(content).summary} ${version}`)
    expect(shown.sort()).toEqual(['changed 2', 'created 1'])
    const announced = (await recorded(accountId)).filter(({ type }) => type.startsWith('calendar.event.'))
    expect(announced.map(({ type, data }) => `${type.slice(15)} ${data.summary} ${data.version}`)).toEqual([
      ...['updated changed 2', 'deleted b 2', 'created created 1'],
    ])
    expect(steps).toBe(4)

    // Killed before the commit: sync announces the event, and the repeated request finds it.
    const time = (hour: string) => ({ dateTime: `${tomorrow}T${hour}:00:00Z` })
    const body = { summary: 'killed', start: time('09'), end: time('10') }
    const request = () => changer.create(path, body, { requestKey: 'key', sendUpdates: 'all' })
    await request()
    await sync()
    const { id } = await db.transaction(await request())
    await sync()
    const last = (await recorded(accountId)).slice(-2).map(({ type, data }) => `${type} ${data.id}`)
    expect(last).toEqual([expect.stringContaining('calendar.event.created'), `calendar.event.created ${id}`])
    expect(last[0]).not.toBe(last[1])
  })
})
