import { readLive, scopeChecks } from '../../accounts/index.ts'
import { yieldIfHeld } from '../../platform/concurrency/event-loop.ts'
import { invalid } from '../../platform/errors/app-error.ts'
import { isoTime, requireTime } from '../../platform/time/time.ts'
import { ProviderError, type TimeRange } from '../../providers/contract/index.ts'
import { zoneNamed } from '../instances/times.ts'
import { calendarStore } from '../store.ts'
import { type AccountBusyDeps, accountBusy } from './account-busy.ts'
import { type AvailabilityRequest, type AvailabilityView, type Known, MAX_DAYS, MAX_ENTRIES } from './api.ts'
import { busyTimes } from './host-times.ts'
import { type OwnTimesDeps, ownTimes } from './own-times.ts'
import { type ParticipantsDeps, participantTimes } from './participants.ts'

type AvailabilityDeps = AccountBusyDeps & Omit<ParticipantsDeps, 'busy' | 'own'> & Omit<OwnTimesDeps, 'busy'>

const MINUTE_MS = 60_000
const MAX_RANGE_MS = MAX_DAYS * 24 * 60 * MINUTE_MS
/** For everything that providers are asked. */
const LIVE_MS = 30_000

/** Finds when people are available: from the stored instances of connected accounts, otherwise from free/busy of the provider. */
export function availability(deps: AvailabilityDeps) {
  const { db, accounts } = deps
  const busy = accountBusy(deps)
  const own = ownTimes({ ...deps, busy })
  const readTimes = participantTimes({ ...deps, busy, own })
  return {
    readBusy: busyTimes(own),

    /** `isFresh`: from the provider, whatever is stored. */
    async find(idOrAlias: string, request: AvailabilityRequest, isFresh: boolean): Promise<AvailabilityView> {
      const { id } = await accounts.resolve(db.read, idOrAlias)
      const account = await accounts.get(id)
      await scopeChecks.require(accounts, account, ['calendar.read'])
      const { participants = [id], intervalMinutes = 30 } = request
      const stepMs = Math.round(intervalMinutes * 60) * 1000
      const range = parseRange(request)
      const slots = Math.floor((range.to - range.from) / stepMs)
      if (slots * participants.length > MAX_ENTRIES) {
        const message = `gives ${slots} slots for ${participants.length} participants; together they may be ${MAX_ENTRIES}. Choose a longer interval, a shorter time range or fewer participants`
        throw invalid('body.intervalMinutes', message)
      }
      const timeZone = await zoneOfRequest(id, request)
      const times = await withDeadline((signal) =>
        readLive('The calendar', () =>
          readTimes(account, participants, { range, isFresh, floatingZone: timeZone, signal }),
        ),
      )
      return { slots: await buildSlots(range, stepMs, times), timeZone, sources: [...times].map(toSource) }
    },
  }

  async function zoneOfRequest(accountId: string, { timeZone }: AvailabilityRequest): Promise<string> {
    if (timeZone === undefined) return (await calendarStore(db.read).find(accountId, 'primary'))?.timeZone ?? 'UTC'
    if (zoneNamed(timeZone) === undefined) throw invalid('body.timeZone', 'must be an IANA name, such as Europe/Berlin')
    return timeZone
  }
}

export type Availability = ReturnType<typeof availability>

function parseRange({ startTime, endTime }: AvailabilityRequest): TimeRange {
  const [from, to] = [requireTime('body.startTime', startTime), requireTime('body.endTime', endTime)]
  if (from >= to) throw invalid('body.endTime', 'must be later than startTime')
  if (to - from > MAX_RANGE_MS) throw invalid('body.endTime', `must be at most ${MAX_DAYS} days after startTime`)
  return { from, to }
}

async function withDeadline<T>(read: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ended = new AbortController()
  const late = new ProviderError('unavailable', 'reading busy times: the provider did not respond in time', {
    timedOut: true,
  })
  const timer = setTimeout(() => ended.abort(late), LIVE_MS)
  try {
    return await read(ended.signal)
  } finally {
    clearTimeout(timer)
    // Ends what still runs after a failure.
    ended.abort(late)
  }
}

function toSource([participant, times]: [string, Known]): AvailabilityView['sources'][number] {
  if (!('busy' in times)) return { participant, source: null, syncedAt: null, reason: times.reason }
  return { participant, source: times.source, syncedAt: isoTime(times.syncedAt), reason: null }
}

const TURN_MS = 8

/** Every slot of `stepMs` in the range, from its start. A busy time blocks the slots that it overlaps; one that only touches does not. */
export async function buildSlots(
  range: TimeRange,
  stepMs: number,
  participants: ReadonlyMap<string, Known>,
): Promise<AvailabilityView['slots']> {
  const cursors = [...participants].map(([name, times]) => ({
    name,
    times: 'busy' in times ? times.busy : undefined,
    next: 0,
  }))
  const slots: AvailabilityView['slots'] = []
  for (let from = range.from; from + stepMs <= range.to; from += stepMs) {
    const to = from + stepMs
    const states = cursors.map((cursor) => {
      const { name, times } = cursor
      if (times === undefined) return [name, 'unknown'] as const
      while (cursor.next < times.length && (times[cursor.next]?.to ?? 0) <= from) cursor.next += 1
      const next = times[cursor.next]
      return [name, next !== undefined && next.from < to ? 'busy' : 'available'] as const
    })
    slots.push({
      start: isoTime(from),
      end: isoTime(to),
      participants: states.flatMap(([name, state]) => (state === 'available' ? name : [])),
      participantAvailability: Object.fromEntries(states),
    })
    await yieldIfHeld(TURN_MS)
  }
  return slots
}
