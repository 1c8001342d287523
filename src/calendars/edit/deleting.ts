import { readLive } from '../../accounts/index.ts'
import { ProviderError, type RemoteEvent } from '../../providers/contract/index.ts'
import { LIVE_MS } from '../read/calendar-access.ts'
import { type EventAccess, type EventChangeDeps, type EventPath, type OpenEvent, requireNotify } from './access.ts'
import type { Scope, SendUpdates } from './api.ts'
import { endBefore } from './following.ts'
import { chooseScope, storedRows, unstoredEvent, wholeSeries } from './scope.ts'
import { type Accepted, storeChange } from './storing.ts'
import { changeLive, instanceEvent } from './target.ts'

interface DeleteOptions {
  scope: Scope | undefined
  sendUpdates: SendUpdates
}

/** Deletes an event, one instance, or a series from an instance on: at the provider first, then in the store. */
export function eventDeletions(deps: EventChangeDeps, access: EventAccess) {
  async function remove(path: EventPath, { scope: requestedScope, sendUpdates }: DeleteOptions): Promise<void> {
    const opened = await access.openEvent(path)
    const scope = chooseScope(opened.target, requestedScope)
    requireNotify(opened.account, sendUpdates, opened.target.event.attendees.length > 0)
    if (scope === 'following' && (await endBefore(deps, opened, sendUpdates === 'all'))) return
    const target = scope === 'this' ? opened.target : wholeSeries(opened.target)
    await removeOne({ ...opened, target }, sendUpdates)
  }

  async function removeOne(opened: OpenEvent, sendUpdates: SendUpdates): Promise<void> {
    const { account, calendar, target, edits } = opened
    const signal = AbortSignal.timeout(LIVE_MS)
    await changeLive('The event', calendar, () =>
      edits.deleteEvent({ ...target.remote, notify: sendUpdates === 'all', signal }),
    )
    const left = await whatIsLeft(opened, signal)
    const accepted = {
      account,
      calendar,
      before: storedRows(target),
      unstored: unstoredEvent(target),
      ...left,
      isSeries: target.instance !== undefined,
    }
    await storeChange(deps, edits, accepted, target.event)
  }

  return { remove }
}

/** A cancelled instance stays as an exception, unless its series excludes it by an EXDATE line. */
export async function whatIsLeft(
  { target, edits }: Pick<OpenEvent, 'target' | 'edits'>,
  signal: AbortSignal,
): Promise<Pick<Accepted, 'found' | 'removed'>> {
  const { event, instance, row, calendar } = target
  const cancelled: RemoteEvent = { ...event, status: 'cancelled' }
  if (instance === undefined) {
    return event.recurringEventId === null ? { found: [], removed: [event.eventId] } : { found: [cancelled] }
  }
  const { master: before, original } = instance
  const request = { calendarId: calendar.providerId, eventId: before.eventId, instance: null }
  const master = await readLive('The series', () => edits.getEvent(request, signal).catch(missing))
  if (master === undefined) return { found: [], removed: [before.eventId] }
  if (instanceEvent(master, original, calendar.timeZone) === undefined) {
    return { found: [master], removed: row === undefined ? [] : [row.providerId] }
  }
  // The id that Google gives it. Graph gives it one that only its series shows; sync finds the row by the original start.
  const eventId = row?.providerId ?? `${before.eventId}_${original}`
  return { found: [master, { ...cancelled, eventId, recurringEventId: before.eventId }] }
}

function missing(error: unknown): undefined {
  if (!(error instanceof ProviderError) || error.kind !== 'not_found') throw error
}
