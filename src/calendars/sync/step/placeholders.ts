import {
  daysOrTimes,
  placeholderInstances,
  placeholderTimes,
  type RemoteEvent,
} from '../../../providers/contract/index.ts'

/**
 * A placeholder with the times of the stored one: each page of a listing knows other instances of the series. When only one of the two is
 * all-day, its days are busy as days and as times. Undefined when the series itself is stored.
 */
export function withStoredTimes(
  placeholder: RemoteEvent,
  content: string | undefined,
  calendarZone: string | null,
): RemoteEvent | undefined {
  if (content === undefined) return placeholder
  const stored: RemoteEvent = JSON.parse(content)
  if (!stored.timesOnly) return undefined
  const isAllDay = [stored, placeholder].every(hasDays)
  const instances = [stored, placeholder].flatMap((event) => {
    const own = placeholderInstances(event)
    return hasDays(event) && !isAllDay ? own.map((instance) => daysOrTimes(instance, calendarZone)) : own
  })
  return { ...placeholder, ...placeholderTimes(instances, isAllDay) }
}

function hasDays({ start }: RemoteEvent): boolean {
  return 'date' in start
}
