import type { Recorder } from '../../../events/index.ts'
import type { Tx } from '../../../infra/db/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { notFound } from '../../../lib/errors.ts'
import type { Ids } from '../../../lib/ids.ts'
import type { RemoteEvent } from '../../../providers/contract/index.ts'
import { type Account, type Accounts, numberApiChange } from '../../accounts/index.ts'
import { type CalendarEventView, eventView } from '../api.ts'
import { spanOf } from '../instances/times.ts'
import { type CalendarRow, calendarStore, type EventRow, eventStore } from '../store.ts'
import { applyChanges, type Changes, sameContent } from '../sync/step.ts'

export interface StoringDeps {
  accounts: Pick<Accounts, 'hold' | 'requestSync'>
  events: Recorder
  clock: Clock
  ids: Ids
}

/** What the provider made of a request. */
export interface Accepted {
  account: Account
  calendar: CalendarRow
  /** The rows that the request began with. */
  before: readonly EventRow[]
  /** An event that is not stored, and not new: stored first, so that its change is announced as one. */
  unstored?: RemoteEvent | undefined
  found: readonly RemoteEvent[]
  removed?: readonly string[]
  /** A sync follows: exceptions of a series may have changed too. */
  isSeries: boolean
}

/**
 * Stores what the provider accepted, with the events that sync would record for it. When the row has changed meanwhile, nobody knows
 * which version is newer: a sync then finds out, as it does when the process dies before the commit.
 */
export async function storeAccepted(deps: StoringDeps, tx: Tx, accepted: Accepted): Promise<void> {
  const { accounts } = deps
  const { account, before, found, removed = [], unstored, isSeries } = accepted
  await accounts.hold(tx, account.id)
  const calendar = await calendarStore(tx).get(accepted.calendar.id)
  if (calendar === undefined) throw notFound('calendar', accepted.calendar.id)
  const store = eventStore(tx, calendar.id)
  const now = await store.byProviderIds(found.map(({ eventId }) => eventId))
  const versions = new Map(before.map((row) => [row.providerId, row.version]))
  const current = found.filter((event) => {
    const row = now.get(event.eventId)
    return row === undefined || row.version === versions.get(event.eventId) || sameContent(row.content, event)
  })
  if (current.length < found.length || isSeries) await accounts.requestSync(tx, [account.id], 'changes')

  const apiChange = await numberApiChange(tx, account.id)
  const context = {
    ...{ calendar, provider: account.provider, nowMs: deps.clock.now(), source: { apiChange } },
    window: { from: calendar.windowFrom, to: calendar.windowTo },
  }
  const none: Changes = { found: [], entered: [], complete: [], removed: [] }
  if (unstored !== undefined && (await store.byProviderIds([unstored.eventId])).size === 0) {
    await applyChanges(deps, tx, { ...context, isAnnounced: false }, { ...none, found: [unstored] })
  }
  await applyChanges(deps, tx, { ...context, isAnnounced: true }, { ...none, found: current, removed })
  if (removed.length > 0) await calendarStore(tx).update(calendar.id, { apiDeletion: apiChange })
}

/** The event as it is stored now. */
export async function storedView(
  tx: Tx,
  { account, calendar }: Pick<Accepted, 'account' | 'calendar'>,
  event: RemoteEvent,
  nowMs: number,
): Promise<CalendarEventView> {
  const row = (await eventStore(tx, calendar.id).byProviderIds([event.eventId])).get(event.eventId)
  const shown = {
    ...(row ?? rowless(event, nowMs)),
    ...{ accountId: account.id, calendarId: calendar.id, content: event },
  }
  return eventView(shown, { provider: account.provider, span: spanOf(event, calendar.timeZone) })
}

/** An id that is too long for the index has no row. */
function rowless({ eventId, recurringEventId, createdAt, updatedAt }: RemoteEvent, nowMs: number) {
  const ids = { id: eventId, providerId: eventId, masterProviderId: recurringEventId, originalStart: null }
  return { ...ids, version: 1, createdAt: createdAt ?? nowMs, updatedAt: updatedAt ?? nowMs }
}
