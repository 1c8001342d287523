import { createHash, randomUUID } from 'node:crypto'
import type { Recorder } from '../../../events/index.ts'
import type { Tx } from '../../../infra/db/index.ts'
import { AppError, type ErrorDetail, invalidFields } from '../../../lib/errors.ts'
import type { CalendarChanges, EventInput } from '../../../providers/contract/index.ts'
import { type Account, readLive } from '../../accounts/index.ts'
import { type CalendarEventView, eventView } from '../api.ts'
import { spanOf } from '../instances/times.ts'
import { type CalendarAccessDeps, calendarAccess, LIVE_MS } from '../reading/calendar-access.ts'
import { eventStore } from '../store.ts'
import type { EventBody, SendUpdates } from './api.ts'
import { parseEventInput } from './input.ts'
import { storeAccepted, storedView } from './storing.ts'
import { findTarget, requireWritable, shownEvent, type Target } from './target.ts'

export interface CalendarChangerDeps extends CalendarAccessDeps {
  events: Recorder
}

/** Names an event: an account id or `customUserId`, and ids of ours or the provider's. */
export interface EventPath {
  accountId: string
  calendarId: string
  eventId: string
}

/**
 * Reads and changes single events for API requests: at the provider first, then in the store, with the events. Methods throw
 * `not_found`, `consent_required`, and `not_supported` for a calendar that the account may only read.
 */
export function calendarChanger(deps: CalendarChangerDeps) {
  const { db, accounts, clock } = deps
  const { openCalendar } = calendarAccess(deps)

  async function changesOf({ id, provider }: Account): Promise<CalendarChanges> {
    const changes = deps.calendars(provider).changes
    if (changes === undefined) throw new AppError('not_supported')
    return changes(await accounts.access(id))
  }

  async function openWritable({ accountId, calendarId }: Omit<EventPath, 'eventId'>) {
    const place = await openCalendar(accountId, calendarId, ['calendar.read', 'calendar.change'])
    requireWritable(place.calendar)
    return { ...place, changes: await changesOf(place.account) }
  }

  function viewOf(target: Target): CalendarEventView {
    const span = spanOf(target.event, target.calendar.timeZone)
    return eventView(shownEvent(target, clock.now()), { provider: target.account.provider, span })
  }

  /** Whether sync keeps what is stored up to date: it does so within the window. */
  async function isCurrent({ calendar, row, instance }: Target): Promise<boolean> {
    const known = row ?? instance?.masterRow
    return calendar.syncedAt !== null && known !== undefined && eventStore(db.read, calendar.id).hasInstances(known.id)
  }

  return {
    /** `isFresh`: from the provider, whatever is stored. */
    async get({ accountId, calendarId, eventId }: EventPath, isFresh: boolean): Promise<CalendarEventView> {
      const place = await openCalendar(accountId, calendarId)
      const target = await findTarget(db, place, eventId, () => changesOf(place.account))
      if (!isFresh && (await isCurrent(target))) return viewOf(target)
      const changes = await changesOf(place.account)
      const event = await readLive('The event', () => changes.getEvent(target.remote, AbortSignal.timeout(LIVE_MS)))
      return viewOf({ ...target, event })
    },

    /** Creates an event at the provider; the function returned stores it. Requests with the same key create one event. */
    async create(
      path: Omit<EventPath, 'eventId'>,
      body: EventBody,
      { requestKey, sendUpdates }: { requestKey: string | null; sendUpdates: SendUpdates },
    ): Promise<(tx: Tx) => Promise<CalendarEventView>> {
      const { account, calendar, changes } = await openWritable(path)
      const errors: ErrorDetail[] = []
      const { start, end, ...given } = parseEventInput(body, null, calendar.timeZone, errors)
      if (errors.length > 0 || start === undefined || end === undefined) throw invalidFields(errors)
      const event: EventInput = { ...NEW_EVENT, ...given, start, end }
      requireNotify(account, sendUpdates, event.attendees.length > 0)
      const request = {
        ...{ calendarId: calendar.providerId, key: requestKey === null ? randomUUID() : uuidOf(requestKey), event },
        ...{ notify: sendUpdates === 'all', signal: AbortSignal.timeout(LIVE_MS) },
      }
      const created = await readLive('The calendar', () => changes.createEvent(request))
      return async (tx) => {
        const accepted = { account, calendar, before: [], found: [created], isSeries: false }
        await storeAccepted(deps, tx, accepted)
        return storedView(tx, accepted, created, clock.now())
      }
    },
  }
}

export type CalendarChanger = ReturnType<typeof calendarChanger>

const NEW_EVENT: Omit<EventInput, 'start' | 'end'> = {
  ...{ summary: '', description: '', location: '', recurrence: [], busy: true, visibility: 'default' },
  ...{ attendees: [], reminders: null, conference: false },
}

/** Throws `not_supported` where the provider would send emails that the request forbids. */
function requireNotify({ provider }: Pick<Account, 'provider'>, sendUpdates: SendUpdates, hasAttendees: boolean): void {
  if (sendUpdates === 'all' || provider === 'gmail' || !hasAttendees) return
  const why =
    provider === 'microsoft'
      ? 'Outlook always notifies the attendees.'
      : 'The calendar server decides whether it notifies the attendees.'
  throw new AppError('not_supported', { message: `${why} Send sendUpdates=all, or an event without attendees.` })
}

/** A UUID that depends only on the text. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}
