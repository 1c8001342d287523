import { placeholderInstances, placeholderTimes, type RemoteEvent } from '../../providers/contract/index.ts'

/**
 * A placeholder with the times of the stored one: each page of a listing knows other instances of the series. Undefined when the series
 * itself is stored.
 */
export function withStoredTimes(placeholder: RemoteEvent, content: string | undefined): RemoteEvent | undefined {
  if (content === undefined) return placeholder
  const stored: RemoteEvent = JSON.parse(content)
  if (!stored.timesOnly) return undefined
  const instances = [stored, placeholder].flatMap(placeholderInstances)
  return { ...placeholder, ...placeholderTimes(instances) }
}
