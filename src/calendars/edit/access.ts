import type { Account } from '../../accounts/index.ts'
import type { Recorder } from '../../events/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { CalendarEdits } from '../../providers/contract/index.ts'
import { type CalendarEventView, eventView } from '../api.ts'
import { eventSpan } from '../instances/times.ts'
import { type CalendarAccessDeps, calendarAccess } from '../read/calendar-access.ts'
import type { CalendarRow } from '../store.ts'
import type { SendUpdates } from './api.ts'
import { findTarget, requireWritable, shownEvent, type Target } from './target.ts'

export interface EventChangeDeps extends CalendarAccessDeps {
  events: Recorder
}

/** Names a calendar: an account id or `customUserId`, and an id of ours or the provider's. */
export interface CalendarPath {
  accountId: string
  calendarId: string
}

export interface EventPath extends CalendarPath {
  eventId: string
}

/** A calendar that may be changed, and the means to do it. */
interface OpenCalendar {
  account: Account
  calendar: CalendarRow
  edits: CalendarEdits
}

export interface OpenEvent extends OpenCalendar {
  target: Target
}

/** Opens calendars and events for requests. Throws `not_found`, `consent_required`, and `not_supported` for what may only be read. */
export function eventAccess(deps: CalendarAccessDeps) {
  const { openCalendar } = calendarAccess(deps)

  async function openEdits({ id, provider }: Account): Promise<CalendarEdits> {
    const { edits } = deps.calendars(provider)
    if (edits === undefined) throw new AppError('not_supported')
    return edits(await deps.accounts.access(id))
  }

  async function openForChange({ accountId, calendarId }: CalendarPath): Promise<OpenCalendar> {
    const place = await openCalendar(accountId, calendarId, ['calendar.read', 'calendar.change'])
    requireWritable(place.calendar)
    return { ...place, edits: await openEdits(place.account) }
  }

  return {
    openEdits,
    openForChange,

    async openEvent({ eventId, ...path }: EventPath): Promise<OpenEvent> {
      const open = await openForChange(path)
      const target = await findTarget(deps.db, open, eventId, async () => open.edits)
      return { ...open, target }
    },

    async findEvent({ accountId, calendarId, eventId }: EventPath): Promise<Target> {
      const place = await openCalendar(accountId, calendarId)
      return findTarget(deps.db, place, eventId, () => openEdits(place.account))
    },

    toView(target: Target): CalendarEventView {
      const span = eventSpan(target.event, target.calendar.timeZone)
      return eventView(shownEvent(target, deps.clock.now()), { provider: target.account.provider, span })
    },
  }
}

export type EventAccess = ReturnType<typeof eventAccess>

/** Throws `not_supported` where the provider would send emails that the request forbids. */
export function requireNotify({ provider }: Account, sendUpdates: SendUpdates, hasAttendees: boolean): void {
  if (sendUpdates === 'all' || provider === 'gmail' || !hasAttendees) return
  const why =
    provider === 'microsoft'
      ? 'Outlook always notifies the attendees.'
      : 'The calendar server decides whether it notifies the attendees.'
  throw new AppError('not_supported', { message: `${why} Send sendUpdates=all.` })
}
