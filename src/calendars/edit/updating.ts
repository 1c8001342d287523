import { AppError, type ErrorDetail, invalid, invalidFields } from '../../platform/errors/app-error.ts'
import { type EventInput, ProviderError, type RemoteEvent } from '../../providers/contract/index.ts'
import type { CalendarEventView } from '../api.ts'
import { LIVE_MS } from '../read/calendar-access.ts'
import { eventStore } from '../store.ts'
import { type EventAccess, type EventChangeDeps, type EventPath, type OpenEvent, requireNotify } from './access.ts'
import type { EventBody, Scope, SendUpdates } from './api.ts'
import { changeFollowing } from './following.ts'
import { parseEventInput } from './input.ts'
import { chooseScope, unstoredEvent, wholeSeries } from './scope.ts'
import { type Accepted, storeAccepted, storeChange } from './storing.ts'
import { changeLive, findTarget, instanceEvent } from './target.ts'

export interface UpdateOptions {
  scope: Scope | undefined
  /** The version that the changes are for. */
  ifMatch: number | undefined
  sendUpdates: SendUpdates
}

/** How often a change is sent again because the provider had a version that shows nothing new. */
const MAX_TRIES = 3

/** Changes an event, one instance, or a series from an instance on: at the provider first, then in the store. */
export function eventUpdates(deps: EventChangeDeps, access: EventAccess) {
  const { db } = deps

  async function update(path: EventPath, body: EventBody, options: UpdateOptions): Promise<CalendarEventView> {
    const opened = await access.openEvent(path)
    ensureVersion(opened, options.ifMatch)
    if (chooseScope(opened.target, options.scope) === 'following') {
      const created = await changeFollowing(deps, opened, body, options.sendUpdates)
      if (created !== undefined) return created
      return updateOne({ ...opened, target: wholeSeries(opened.target) }, body, { ...options, ifMatch: undefined })
    }
    if (chooseScope(opened.target, options.scope) === 'this') return updateOne(opened, body, options)
    const target = wholeSeries(opened.target)
    // An instance without a row of its own has the version of its series.
    const isSame = target === opened.target || opened.target.row === undefined
    return updateOne({ ...opened, target }, body, { ...options, ifMatch: isSame ? options.ifMatch : undefined })
  }

  async function updateOne(
    opened: OpenEvent,
    body: EventBody,
    { ifMatch, sendUpdates }: UpdateOptions,
  ): Promise<CalendarEventView> {
    const { target, account } = opened
    const isInstance = target.event.recurringEventId !== null
    if (isInstance && body.recurrence !== undefined) {
      throw invalid('body.recurrence', 'cannot be changed for one instance. Use scope=following or scope=all')
    }
    const errors: ErrorDetail[] = []
    const input = parseEventInput(body, target.event, target.calendar.timeZone, errors)
    if (errors.length > 0) throw invalidFields(errors)
    if (Object.keys(input).length === 0) throw invalid('body', 'must have at least one field to change')
    requireNotify(account, sendUpdates, (input.attendees ?? target.event.attendees).length > 0)
    const sent = await changeLive('The event', target.calendar, () =>
      send(opened, input, ifMatch, sendUpdates === 'all'),
    )
    return store(sent.opened, input, sent.event)
  }

  /** With `ifMatch` the provider checks the version too. Returns also what was stored before the request that succeeded. */
  async function send(
    opened: OpenEvent,
    input: Partial<EventInput>,
    ifMatch: number | undefined,
    notify: boolean,
  ): Promise<{ opened: OpenEvent; event: RemoteEvent }> {
    const { edits } = opened
    for (let current = opened, tries = 1; ; tries += 1) {
      const signal = AbortSignal.timeout(LIVE_MS)
      const etag = ifMatch === undefined ? null : await readEtag(current, signal)
      try {
        const event = await edits.updateEvent({ ...current.target.remote, changes: input, etag, notify, signal })
        return { opened: current, event }
      } catch (error) {
        const isOutdated = error instanceof ProviderError && error.kind === 'conflict'
        if (!isOutdated || ifMatch === undefined || tries >= MAX_TRIES) throw error
        current = await refreshed(current)
        ensureVersion(current, ifMatch)
      }
    }
  }

  /** An instance without a row is read, because its series does not say whether another program has changed it. */
  async function readEtag({ target, edits }: OpenEvent, signal: AbortSignal): Promise<string | null> {
    if (target.row !== undefined || target.instance === undefined) return target.event.etag
    const event = await edits.getEvent(target.remote, signal)
    if (sameToReaders(event, target.event)) return event.etag
    throw outdated({ ...target, event })
  }

  /** Stores the provider's version, as sync would. */
  async function refreshed(opened: OpenEvent): Promise<OpenEvent> {
    const { target, edits, account, calendar } = opened
    const event = await edits.getEvent(target.remote, AbortSignal.timeout(LIVE_MS))
    const { row } = target
    if (row === undefined) throw outdated({ ...target, event })
    await db.transaction((tx) =>
      storeAccepted(deps, tx, { account, calendar, before: [row], found: [event], isSeries: false }),
    )
    return { ...opened, target: await findTarget(db, opened, row.id, async () => edits) }
  }

  async function store(opened: OpenEvent, input: Partial<EventInput>, event: RemoteEvent): Promise<CalendarEventView> {
    const { target, account, calendar } = opened
    const { row } = target
    const accepted: Accepted = {
      account,
      calendar,
      before: row === undefined ? [] : [row],
      unstored: unstoredEvent(target),
      found: [event],
      removed: row?.isSeries === 1 ? await lostExceptions(opened, input, event) : [],
      isSeries: row?.isSeries === 1 || event.recurrence.length > 0,
    }
    return storeChange(deps, opened.edits, accepted, event)
  }

  /** Exceptions of instances that the series no longer has. Google keeps those of a series that was moved. */
  async function lostExceptions(
    { account, calendar }: OpenEvent,
    { start, recurrence }: Partial<EventInput>,
    master: RemoteEvent,
  ): Promise<string[]> {
    if (start === undefined && recurrence === undefined) return []
    const exceptions = await eventStore(db.read, calendar.id).findExceptions(master.eventId)
    const isKept = (original: string | null) =>
      account.provider === 'gmail' && recurrence === undefined
        ? true
        : original !== null && instanceEvent(master, original, calendar.timeZone) !== undefined
    return exceptions.flatMap(({ providerId, originalStart }) => (isKept(originalStart) ? [] : [providerId]))
  }

  function ensureVersion({ target }: OpenEvent, ifMatch: number | undefined): void {
    if (ifMatch !== undefined && access.toView(target).version !== ifMatch) throw outdated(target)
  }

  function outdated(target: OpenEvent['target']): AppError {
    const current = access.toView(target)
    return new AppError('conflict', { message: `The event has version ${current.version}, or was changed.`, current })
  }

  return { update }
}

/** Whether two states show the same, whatever their versions are. */
function sameToReaders(left: RemoteEvent, right: RemoteEvent): boolean {
  const shown = ({ summary, description, location, start, end, status, busy, visibility, ...rest }: RemoteEvent) =>
    JSON.stringify([
      summary,
      description,
      location,
      start,
      end,
      status,
      busy,
      visibility,
      rest.attendees,
      rest.conference,
      rest.reminders,
    ])
  return shown(left) === shown(right)
}
