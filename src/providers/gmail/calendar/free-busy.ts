import {
  type CalendarFreeBusy,
  type FreeBusy,
  type FreeBusyRequest,
  mergeRanges,
  type TimeRange,
} from '../../contract/index.ts'
import { list, object, type RestMailbox, text, time } from '../../shared/rest/index.ts'
import { ROOT } from './client.ts'

const DOING = 'reading busy times'
/** Google refuses longer ranges, without saying how long they may be. */
const MAX_RANGE_MS = 60 * 86_400_000

/** Google's ids of calendars are addresses, so those of people need nothing more. */
export function googleFreeBusy(mailbox: RestMailbox): CalendarFreeBusy {
  async function query({ ids, signal }: FreeBusyRequest, { from, to }: TimeRange): Promise<FreeBusy[]> {
    const body = {
      timeMin: new Date(from).toISOString(),
      timeMax: new Date(to).toISOString(),
      items: ids.map((id) => ({ id })),
    }
    const response = await mailbox.json(
      { method: 'POST', path: `${ROOT}/freeBusy`, isRepeatable: true, doing: DOING, signal, body },
      object,
    )
    const calendars = object(response.calendars)
    return ids.map((id) => {
      const { busy, errors } = object(calendars[id])
      const reasons = list(errors).map((error) => text(object(error).reason))
      if (reasons.length > 0 || calendars[id] === undefined) {
        return { id, busy: [], error: reasons.includes('notFound') ? 'not_found' : 'unavailable' }
      }
      const ranges = list(busy).flatMap((range) => {
        const [start, end] = [time(object(range).start), time(object(range).end)]
        return start === undefined || end === undefined ? [] : [{ from: start, to: end }]
      })
      return { id, busy: ranges, error: null }
    })
  }

  return {
    async freeBusy(request) {
      const { from, to } = request.range
      const all = new Map<string, FreeBusy>(request.ids.map((id) => [id, { id, busy: [], error: null }]))
      for (let start = from; start < to; start += MAX_RANGE_MS) {
        for (const { id, busy, error } of await query(request, {
          from: start,
          to: Math.min(to, start + MAX_RANGE_MS),
        })) {
          const earlier = all.get(id)
          if (earlier !== undefined)
            all.set(id, { id, busy: [...earlier.busy, ...busy], error: earlier.error ?? error })
        }
      }
      return request.ids.map((id) => {
        const { busy = [], error = null } = all.get(id) ?? {}
        return { id, busy: error === null ? mergeRanges(busy) : [], error }
      })
    },
  }
}
