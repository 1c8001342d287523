import type { RemoteEvent } from '../../../providers/contract/index.ts'

/** The times of a placeholder of one page. */
const MAX_TIMES = 1000

/**
 * A placeholder with the times of the stored one: each page of a listing knows other instances of the series. Undefined when the series
 * itself is stored.
 */
export function withStoredTimes(placeholder: RemoteEvent, content: string | undefined): RemoteEvent | undefined {
  if (content === undefined) return placeholder
  const stored: RemoteEvent = JSON.parse(content)
  if (!stored.timesOnly) return undefined
  const times = [...new Set([...timesOf(stored), ...timesOf(placeholder)])].sort().slice(0, MAX_TIMES)
  const first = timesOf(stored)[0] === times[0] ? stored : placeholder
  return { ...first, recurrence: [`RDATE:${times.join(',')}`] }
}

function timesOf({ recurrence }: RemoteEvent): string[] {
  const [line = ''] = recurrence
  return line.replace(/^RDATE:/, '').split(',')
}
