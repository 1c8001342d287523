import { expect } from 'vitest'
import type { UnreadableItem } from '../../../src/accounts/collections/index.ts'
import { catalogue } from '../../../src/app/feature-list.ts'
import { calendarChanger } from '../../../src/calendars/edit/changer.ts'
import { calendarStore, eventStore } from '../../../src/calendars/store.ts'
import { type DueCalendars, syncCalendars } from '../../../src/calendars/sync/account.ts'
import { unreadableEvents } from '../../../src/calendars/unreadable.ts'
import { recorder } from '../../../src/events/index.ts'
import type { Db } from '../../../src/platform/db/index.ts'
import { idGenerator } from '../../../src/platform/ids.ts'
import { systemClock } from '../../../src/platform/time/clock.ts'
import {
  type CalendarAccount,
  type CalendarEdits,
  ProviderError,
  type RemoteCalendar,
  type RemoteEvent,
  type UnreadableEvent,
} from '../../../src/providers/contract/index.ts'
import { testAccounts } from '../accounts/accounts.ts'

/** Every calendar, until one fails. */
export const ALL: DueCalendars = {
  isDue: () => true,
  isListed: false,
  onSynced() {},
  onFailed: () => false,
}

const CALENDAR: RemoteCalendar = {
  calendarId: 'work',
  summary: 'Work',
  description: '',
  timeZone: 'UTC',
  primary: true,
  selected: true,
  backgroundColor: null,
  foregroundColor: null,
  role: 'owner',
}
const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
const at = (time: string) => ({ dateTime: `${tomorrow}T${time}:00`, timeZone: 'UTC' })
const buildEvent = (eventId: string, summary = eventId): RemoteEvent => ({
  eventId,
  iCalUid: eventId,
  etag: null,
  status: 'confirmed',
  summary,
  description: '',
  location: '',
  start: at('09:00'),
  end: at('10:00'),
  recurrence: [],
  recurringEventId: null,
  originalStart: null,
  busy: true,
  visibility: 'default',
  organizer: null,
  attendees: [],
  conference: null,
  reminders: [],
  htmlLink: null,
  createdAt: null,
  updatedAt: null,
})

/** The times of a request. */
export function hoursTomorrow(from: string, to: string) {
  return { start: { dateTime: `${tomorrow}T${from}:00:00Z` }, end: { dateTime: `${tomorrow}T${to}:00:00Z` } }
}

/**
 * One calendar of a provider that reports each change after a cursor, as with a sync token. `meanwhile` runs the test's code once while
 * the next response is on its way. Syncs only on request.
 */
export async function scriptedCalendar(db: Db, eventIds: readonly string[]) {
  const { accounts, link, events: recorded, bus } = testAccounts(db)
  const { id: accountId } = await link()
  const clock = systemClock
  const ids = idGenerator(clock)
  const events = recorder({ catalogue, clock, ids, bus })
  const state = new Map<string, RemoteEvent>()
  /** The ids of changed events, oldest first. A cursor is a position in it. */
  const log: string[] = []
  let meanwhile: { listing?: () => Promise<void>; change?: () => Promise<void> } = {}
  let reads = 0
  /** Why events cannot be read. */
  const broken = new Map<string, Omit<UnreadableEvent, 'eventId'>>()
  /** The events that each sync asked for again. */
  const askedAgain: string[][] = []
  let hasExpired = false

  function put(eventId: string, summary = eventId): RemoteEvent {
    const event = buildEvent(eventId, summary)
    broken.delete(eventId)
    state.set(eventId, event)
    log.push(eventId)
    return event
  }
  function drop(eventId: string): void {
    broken.delete(eventId)
    state.delete(eventId)
    log.push(eventId)
  }
  async function run(what: keyof typeof meanwhile): Promise<void> {
    const work = meanwhile[what]
    delete meanwhile[what]
    await work?.()
  }
  for (const id of eventIds) put(id)

  const remote: CalendarAccount = {
    listCalendars: async () => [CALENDAR],
    async *syncEvents({ cursor, again = [] }) {
      askedAgain.push([...again])
      if (hasExpired && cursor !== null) throw new ProviderError('cursor_expired', 'the cursor has expired')
      hasExpired = false
      const changed = [...new Set([...again, ...log.slice(Number(cursor ?? 0))])]
      const found = changed.flatMap((id) => (broken.has(id) ? [] : (state.get(id) ?? [])))
      const removed = cursor === null ? [] : changed.filter((id) => !state.has(id) && !broken.has(id))
      const unreadable = changed.flatMap((eventId) => {
        const why = broken.get(eventId)
        return why === undefined ? [] : [{ eventId, ...why }]
      })
      const end = String(log.length)
      await run('listing')
      reads += 1
      yield { found, entered: [], complete: [], removed, unreadable, cursor: end }
    },
    readRange: async () => [],
  }
  async function responded<T>(response: T): Promise<T> {
    await run('change')
    return response
  }
  const edits: CalendarEdits = {
    getEvent: async ({ eventId }) => {
      const event = state.get(eventId)
      if (event === undefined) throw new ProviderError('not_found', 'there is no such event')
      return event
    },
    createEvent: ({ key, event }) => responded(put(key, event.summary)),
    updateEvent: ({ eventId, changes: { summary } }) => responded(put(eventId, summary)),
    deleteEvent: async ({ eventId }) => responded(drop(eventId)),
    respond: async () => null,
  }
  const deps = {
    db,
    clock,
    ids,
    events,
    fence: async () => {},
    sharedFence: async () => {},
    windowMonths: [1, 12] as const,
  }
  const { signal } = new AbortController()
  return {
    accountId,
    put,
    drop,
    /** An instance of a series that is not in the calendar. It goes with the id of its series, as in a CalDAV object. */
    putInstanceOf(masterId: string): void {
      const eventId = `${masterId}#instance`
      put(eventId)
      state.set(eventId, { ...buildEvent(eventId), recurringEventId: masterId, originalStart: at('09:00') })
    },
    /** From now on, the event cannot be read. */
    spoil(eventId: string, reason: string): void {
      broken.set(eventId, { reason })
      log.push(eventId)
    },
    /** From now on, the provider does not return the series, of which it shows these hours. Without a change, unless `hours` are given. */
    refuse(eventId: string, ...hours: string[]): void {
      const times = hours.map((hour) => `${tomorrow.replaceAll('-', '')}T${hour}0000Z`)
      const placeholder: RemoteEvent = {
        ...buildEvent(eventId, ''),
        start: at(`${hours[0]}:00`),
        end: at(`${hours[0]}:30`),
        recurrence: [`RDATE:${times.join(',')}`],
        timesOnly: true,
      }
      const isListed = hours.length > 0
      broken.set(eventId, { reason: 'Refused.', isRefused: true, ...(isListed && { placeholder }) })
      if (isListed) log.push(eventId)
    },
    askedAgain,
    /** The instances of an event: hours of tomorrow. */
    async readHours(eventId: string): Promise<number[]> {
      const [calendar] = await calendarStore(db.read).all(accountId)
      const row = await eventStore(db.read, calendar?.id ?? '').find(eventId)
      const instances = db.read
        .selectFrom('calendarInstances')
        .select('startMs')
        .where('eventId', '=', row?.id ?? '')
      return (await instances.orderBy('startMs').execute()).map(({ startMs }) => new Date(startMs).getUTCHours())
    },
    /** The next sync reads everything again. */
    expire(): void {
      hasExpired = true
    },
    changer: calendarChanger({
      db,
      clock,
      ids,
      events,
      accounts,
      calendars: () => ({ open: () => remote, edits: () => edits }),
    }),
    /** Returns what it reported as unreadable: `<id>: <reason>`. */
    async sync(): Promise<string[]> {
      const reported: string[] = []
      const onUnreadable = (_: unknown, some: readonly UnreadableItem[]) =>
        reported.push(...some.map(({ itemId, reason }) => `${itemId}: ${reason}`))
      await syncCalendars(deps, { accountId, epoch: 1, provider: 'imap', remote, signal, onUnreadable }, ALL)
      return reported
    },
    /** The events that are counted as unreadable. */
    async unreadable(): Promise<string[]> {
      const calendars = await calendarStore(db.read).all(accountId)
      const found = [...(await unreadableEvents.readSome(db.read, calendars)).values()].flat()
      expect(calendars.map(({ unreadable }) => unreadable)).toEqual([found.length])
      return found.map(({ itemId, reason }) => `${itemId}: ${reason}`)
    },
    /** Runs before the next listing, or the response to the next change, arrives. */
    meanwhile(what: keyof typeof meanwhile, work: () => Promise<void>): void {
      meanwhile = { ...meanwhile, [what]: work }
    },
    /** How often sync has read the changes. */
    reads: () => reads,
    /** The stored events: `summary version`. */
    async stored(): Promise<string[]> {
      const [calendar] = await calendarStore(db.read).all(accountId)
      const rows = await eventStore(db.read, calendar?.id ?? '').after('', 10)
      return rows.map(({ content, version }) => `${JSON.parse(content).summary} ${version}`).sort()
    },
    /** Our id of a stored event. */
    async findId(providerId: string): Promise<string> {
      const [calendar] = await calendarStore(db.read).all(accountId)
      return (await eventStore(db.read, calendar?.id ?? '').find(providerId))?.id ?? ''
    },
    /** Recorded events about events, oldest first. */
    async announced() {
      return (await recorded(accountId)).filter(({ type }) => type.startsWith('calendar.event.'))
    },
  }
}
