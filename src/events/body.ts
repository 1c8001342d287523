import type { Selectable } from 'kysely'
import type { Tables } from '../infra/db/index.ts'
import { isoTime } from '../lib/time.ts'
import { EVENT_TYPES, type EventBody, type EventType } from './types.ts'

/** The version of the events' shape; a date, changed only when a field changes its meaning. */
const API_VERSION = '2026-11-01'

export type EventRow = Selectable<Tables['events']>

/** The event as it is sent, a pure function of the row: all of it but `data`, which may be large and is JSON text already. */
export function eventHead(row: EventRow): Omit<EventBody, 'data'> {
  return {
    id: row.id,
    type: eventType(row.type),
    timestamp: isoTime(row.createdAt),
    apiVersion: API_VERSION,
    accountId: row.accountId,
    provider: row.provider,
    sequence: row.sequence,
    objectId: row.objectId,
    version: row.version,
  }
}

function eventType(text: string): EventType {
  const type = EVENT_TYPES.find((known) => known === text)
  if (type === undefined) throw new Error(`unknown event type "${text}" in the store`)
  return type
}
