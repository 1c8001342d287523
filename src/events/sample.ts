import { API_VERSION, type EventBody } from './event.ts'
import { ENTRIES, type EventType, type NewEvent } from './types.ts'

/** An event of this type as it might have happened, ready to be recorded: the example of the catalogue. */
export function sampleEvent<Type extends EventType>(type: Type): NewEvent<Type> {
  return { type, ...ENTRIES[type].example }
}

/** The same as applications see it. */
export function sampleBody(type: EventType): EventBody {
  const { accountId, provider, objectId, version, data } = ENTRIES[type].example
  return {
    id: 'evt_01k9zw5e9w2y4z6b8d1f3h5k7n',
    type,
    timestamp: latestOf(data),
    apiVersion: API_VERSION,
    accountId,
    provider,
    sequence: accountId === null ? null : 42,
    objectId,
    version,
    data,
  }
}

/** An event is recorded when its data was last changed, which its `…At` members tell. */
function latestOf(data: object): string {
  const times = Object.entries(data).flatMap(([name, value]) => (name.endsWith('At') ? [String(value)] : []))
  return times.sort().at(-1) ?? '2026-11-20T08:00:00.000Z'
}
