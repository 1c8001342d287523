import { randomUUID } from 'node:crypto'
import { readLive } from '../../accounts/index.ts'
import { deriveUuid } from '../../platform/crypto/derived-uuid.ts'
import type { Tx } from '../../platform/db/index.ts'
import { type ErrorDetail, invalidFields } from '../../platform/errors/app-error.ts'
import type { EventInput } from '../../providers/contract/index.ts'
import type { CalendarEventView } from '../api.ts'
import { LIVE_MS } from '../read/calendar-access.ts'
import { eventStore } from '../store.ts'
import { type CalendarPath, type EventChangeDeps, type EventPath, eventAccess, requireNotify } from './access.ts'
import { type ChangedEventView, type EventBody, type SendUpdates, withWarnings } from './api.ts'
import { eventDeletions } from './deleting.ts'
import { parseEventInput } from './input.ts'
import { invitationResponses } from './responding.ts'
import { storeAccepted, storedView } from './storing.ts'
import { changeLive, type Target } from './target.ts'
import { eventUpdates, type UpdateOptions } from './updating.ts'

/**
 * Reads and changes single events for API requests: at the provider first, then in the store, with the events. Methods throw
 * `not_found`, `consent_required`, and `not_supported` for what the provider cannot do, and for calendars that may only be read.
 */
export function calendarChanger(deps: EventChangeDeps) {
  const { db, clock } = deps
  const access = eventAccess(deps)

  /** Whether sync keeps what is stored up to date: it does so within the window. */
  async function isCurrent({ calendar, row, instance }: Target): Promise<boolean> {
    const master = row ?? instance?.masterRow
    return (
      calendar.syncedAt !== null && master !== undefined && eventStore(db.read, calendar.id).hasInstances(master.id)
    )
  }

  const updates = eventUpdates(deps, access)

  return {
    ...eventDeletions(deps, access),
    ...invitationResponses(deps, access),

    /** `isFresh`: from the provider, whatever is stored. */
    async get(path: EventPath, isFresh: boolean): Promise<CalendarEventView> {
      const target = await access.findEvent(path)
      if (!isFresh && (await isCurrent(target))) return access.toView(target)
      const changes = await access.openEdits(target.account)
      const event = await readLive('The event', () => changes.getEvent(target.remote, AbortSignal.timeout(LIVE_MS)))
      return access.toView({ ...target, event })
    },

    async update(path: EventPath, body: EventBody, options: UpdateOptions): Promise<ChangedEventView> {
      return withWarnings(await updates.update(path, body, options), body)
    },

    /** Creates an event at the provider; the function returned stores it. Requests with the same key create one event. */
    async create(
      path: CalendarPath,
      body: EventBody,
      { requestKey, sendUpdates }: { requestKey: string | null; sendUpdates: SendUpdates },
    ): Promise<(tx: Tx) => Promise<ChangedEventView>> {
      const { account, calendar, edits } = await access.openForChange(path)
      const errors: ErrorDetail[] = []
      const { start, end, ...input } = parseEventInput(body, null, calendar.timeZone, errors)
      if (errors.length > 0 || start === undefined || end === undefined) throw invalidFields(errors)
      const event: EventInput = { ...NEW_EVENT, ...input, start, end }
      requireNotify(account, sendUpdates, event.attendees.length > 0)
      const request = {
        calendarId: calendar.providerId,
        key: requestKey === null ? randomUUID() : deriveUuid(requestKey),
        event,
        notify: sendUpdates === 'all',
        signal: AbortSignal.timeout(LIVE_MS),
      }
      const created = await changeLive('The calendar', calendar, () => edits.createEvent(request))
      return async (tx) => {
        const accepted = { account, calendar, before: [], found: [created], isSeries: false }
        await storeAccepted(deps, tx, accepted)
        return withWarnings(await storedView(tx, accepted, created, clock.now()), body)
      }
    },
  }
}

export type CalendarChanger = ReturnType<typeof calendarChanger>

const NEW_EVENT: Omit<EventInput, 'start' | 'end'> = {
  summary: '',
  description: '',
  location: '',
  recurrence: [],
  busy: true,
  visibility: 'default',
  attendees: [],
  reminders: null,
  conference: false,
}
