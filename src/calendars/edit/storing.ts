import { type Account, type Accounts, numberApiChange } from '../../accounts/index.ts'
import type { Recorder } from '../../events/index.ts'
import { isTimeout } from '../../platform/concurrency/abort.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import { notFound } from '../../platform/errors/app-error.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Clock } from '../../platform/time/clock.ts'
import {
  type CalendarEdits,
  type EventTarget,
  ProviderError,
  type RemoteEvent,
} from '../../providers/contract/index.ts'
import { type CalendarEventView, eventView } from '../api.ts'
import { eventSpan } from '../instances/times.ts'
import { LIVE_MS } from '../read/calendar-access.ts'
import { type CalendarRow, calendarStore, type EventRow, eventStore } from '../store.ts'
import { applyChanges } from '../sync/step/apply.ts'
import { sameContent } from '../sync/step/save.ts'
import type { Changes } from '../sync/step/step-state.ts'

interface StoringDeps {
  accounts: Pick<Accounts, 'hold' | 'requestSync'>
  events: Recorder
  clock: Clock
  ids: Ids
}

/** The provider's result of a request. */
export interface Accepted {
  account: Account
  calendar: CalendarRow
  /** The rows that the request began with. Of rows of one event the last one counts. */
  before: readonly EventRow[]
  /** An event that is not stored, and not new: stored first, so that its change is announced as one. */
  unstored?: RemoteEvent | undefined
  found: readonly RemoteEvent[]
  removed?: readonly string[]
  /** A sync follows: exceptions of a series may have changed too. */
  isSeries: boolean
}

/** How often an event is read again that others change at the same time. After that, sync finds its state. */
const MAX_READS = 3

/** Stores what the provider accepted, and reads the events again of which the row may be newer. Returns `shown` as it is then stored. */
export async function storeChange(
  deps: StoringDeps & { db: Db },
  edits: CalendarEdits,
  accepted: Accepted,
  shown: RemoteEvent,
): Promise<CalendarEventView> {
  const { db, clock } = deps
  const { account, calendar } = accepted
  const signal = AbortSignal.timeout(LIVE_MS)
  const store = (accepted: Accepted) =>
    db.transaction(async (tx) => {
      const left = await storeAccepted(deps, tx, accepted)
      const event = accepted.found.find(({ eventId }) => eventId === shown.eventId) ?? shown
      return { left, view: await storedView(tx, accepted, event, clock.now()) }
    })
  let { left, view } = await store(accepted)
  for (let reads = 0; left.length > 0 && reads < MAX_READS; reads += 1) {
    const rows = await eventStore(db.read, calendar.id).byProviderIds(left.map(({ eventId }) => eventId))
    const read = await Promise.all(left.map((event) => readAgain(edits, calendar, event, signal)))
    const found = read.filter((event) => event !== undefined)
    if (found.length === 0) return view
    const before = [...accepted.before, ...rows.values()]
    ;({ left, view } = await store({ account, calendar, before, found, isSeries: false }))
  }
  return view
}

/** Undefined when it cannot be read: the provider has accepted the change in any case, and a sync finds out. */
async function readAgain(
  edits: CalendarEdits,
  { providerId }: CalendarRow,
  { eventId, recurringEventId, originalStart }: RemoteEvent,
  signal: AbortSignal,
): Promise<RemoteEvent | undefined> {
  const isInstance = recurringEventId !== null && originalStart !== null
  const target: EventTarget = {
    calendarId: providerId,
    ...(isInstance ? { eventId: recurringEventId, instance: originalStart } : { eventId, instance: null }),
  }
  try {
    return await edits.getEvent(target, signal)
  } catch (error) {
    if (error instanceof ProviderError || isTimeout(error)) return undefined
    throw error
  }
}

/**
 * Stores what the provider accepted, with the events that sync would record for it. When the row has changed meanwhile, or sync or
 * another request has found it to be as it is, nobody knows which version is newer: these events are not stored, but returned. Unless
 * the caller reads them again, a sync finds out, as it does when the process dies before the commit.
 */
export async function storeAccepted(deps: StoringDeps, tx: Tx, accepted: Accepted): Promise<RemoteEvent[]> {
  const { accounts } = deps
  const { account, before, found, removed = [], unstored, isSeries } = accepted
  await accounts.hold(tx, account.id)
  const calendar = await calendarStore(tx).get(accepted.calendar.id)
  if (calendar === undefined) throw notFound('calendar', accepted.calendar.id)
  const store = eventStore(tx, calendar.id)
  const now = await store.byProviderIds(found.map(({ eventId }) => eventId))
  const stored = new Map(before.map((row) => [row.providerId, row]))
  const isCurrent = (event: RemoteEvent) => {
    const row = now.get(event.eventId)
    const old = stored.get(event.eventId)
    if (row === undefined) return old === undefined
    return sameContent(row.content, event) || STATE.every((column) => row[column] === old?.[column])
  }
  const current = found.filter(isCurrent)
  const outdated = found.filter((event) => !isCurrent(event))
  if (outdated.length > 0 || isSeries) await accounts.requestSync(tx, [account.id], 'changes')

  const apiChange = await numberApiChange(tx, account.id)
  const context = {
    calendar,
    provider: account.provider,
    nowMs: deps.clock.now(),
    source: { apiChange },
    window: { from: calendar.windowFrom, to: calendar.windowTo },
  }
  const none: Changes = { found: [], entered: [], complete: [], removed: [] }
  if (unstored !== undefined && (await store.byProviderIds([unstored.eventId])).size === 0) {
    await applyChanges(deps, tx, { ...context, isAnnounced: false }, { ...none, found: [unstored] })
  }
  await applyChanges(deps, tx, { ...context, isAnnounced: true }, { ...none, found: current, removed })
  if (removed.length > 0) await calendarStore(tx).update(calendar.id, { apiDeletion: apiChange })
  return outdated
}

/** Columns that change whenever a row is written, or confirmed. */
const STATE = ['version', 'apiChange', 'confirmations'] as const

/** The event as it is stored now. */
export async function storedView(
  tx: Tx,
  { account, calendar, before }: Pick<Accepted, 'account' | 'calendar' | 'before'>,
  event: RemoteEvent,
  nowMs: number,
): Promise<CalendarEventView> {
  const stored = (await eventStore(tx, calendar.id).byProviderIds([event.eventId])).get(event.eventId)
  const row = stored ?? before.find(({ providerId }) => providerId === event.eventId)
  const shown = {
    ...(row ?? rowless(event, nowMs)),
    accountId: account.id,
    calendarId: calendar.id,
    content: event,
  }
  return eventView(shown, { provider: account.provider, span: eventSpan(event, calendar.timeZone) })
}

/** An id that is too long for the index has no row. */
function rowless({ eventId, recurringEventId, createdAt, updatedAt }: RemoteEvent, nowMs: number) {
  const ids = { id: eventId, providerId: eventId, masterProviderId: recurringEventId, originalStart: null }
  return { ...ids, version: 1, createdAt: createdAt ?? nowMs, updatedAt: updatedAt ?? nowMs }
}
