import { setMaxListeners } from 'node:events'
import { toAppError } from '../../accounts/index.ts'
import { untilAborted } from '../../platform/concurrency/abort.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { ProviderError, type TimeRange } from '../../providers/contract/index.ts'
import { mayRead, type OwnTimes } from './own-times.ts'

/** When an account is busy, in order and without overlaps, or for people, why this is not known. */
type HostBusy = { busy: TimeRange[] } | { reason: string }

interface BusyOptions {
  /** From the provider, within 5 s: for a booking, which must not take place over a meeting that was just made. */
  isFresh?: boolean
  /** IANA: where events take place whose calendar does not say it. */
  floatingZone: string
  /** Events of the calendars that do not count, such as that of a booking that is moved. */
  exceptEventIds?: readonly string[]
  signal: AbortSignal
}

/**
 * Reads when accounts are busy: from the stored instances while they are current, otherwise, or if asked, from the provider. An account without
 * calendars is never busy. A provider that fails makes its own account unknown.
 */
export type BusyTimes = (
  accountIds: readonly string[],
  range: TimeRange,
  options: BusyOptions,
) => Promise<Map<string, HostBusy>>

/** How many accounts are read at once. */
const CONCURRENCY = 8
/** For all of them; an account that takes longer is unknown. */
const MAX_MS = 10_000
const MAX_FRESH_MS = 5000

export function busyTimes(own: OwnTimes): BusyTimes {
  return async (accountIds, range, { isFresh = false, floatingZone, exceptEventIds = [], signal }) => {
    const late = AbortSignal.timeout(isFresh ? MAX_FRESH_MS : MAX_MS)
    const asked = { range, isFresh, floatingZone, exceptEventIds, signal: AbortSignal.any([signal, late]) }
    // Every request of every account listens to it.
    setMaxListeners(0, asked.signal)
    const found = new Map<string, HostBusy>()
    const queue = accountIds.values()
    const work = async () => {
      for (const id of queue) found.set(id, await readTimes(id))
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, work))
    return new Map(accountIds.map((id) => [id, found.get(id) ?? { reason: 'unknown' }]))

    async function readTimes(id: string): Promise<HostBusy> {
      const account = await own.findAccount(id)
      if (account === undefined) return { reason: 'there is no such account' }
      if (account.status === 'auth_error') return { reason: 'the provider refused its credentials' }
      if (!mayRead(account)) return { reason: 'its user did not grant access to the calendars' }
      try {
        asked.signal.throwIfAborted()
        const times = await untilAborted(own.read(account, asked), asked.signal)
        if (times === undefined) return { busy: [] }
        return 'busy' in times ? { busy: times.busy } : { reason: 'the provider does not show its busy times' }
      } catch (error) {
        signal.throwIfAborted()
        if (late.aborted) return { reason: 'the provider did not respond in time' }
        const failure = error instanceof ProviderError ? toAppError(error, 'its calendar') : error
        if (!(failure instanceof AppError)) throw error
        return { reason: inParentheses(failure.message) }
      }
    }
  }
}

function inParentheses(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '')
}
