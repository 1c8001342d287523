import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import {
  ENTRIES,
  EVENT_TYPES,
  type EventType,
  isEventType,
  type NewEvent,
  sampleEvent,
} from '../../src/events/index.ts'
import type { Db } from '../../src/infra/db/index.ts'

/** What a test says of an event; the rest is the example of its type. */
export interface EventSketch extends Partial<Omit<NewEvent, 'type' | 'data'>> {
  type?: EventType
  data?: Record<string, unknown>
}

/** The example of the type (`message.received` without one) with what the sketch says; throws when that is no such event. */
export function eventOf({ type = 'message.received', data, ...rest }: EventSketch): NewEvent {
  const sample = sampleEvent(type)
  const event = { ...sample, ...rest, data: { ...sample.data, ...data } }
  if (isNewEvent(event)) return event
  throw new Error(faultsOf(event.type, event.data).join('\n'))
}

function isNewEvent(event: { type: EventType; data: unknown }): event is NewEvent {
  return faultsOf(event.type, event.data).length === 0
}

/** How `data` differs from what the catalogue says of the type; members that it does not name are faults too. */
export function faultsOf(type: string, data: unknown): string[] {
  if (!isEventType(type)) return [`there is no event type "${type}"`]
  const check = checkOf(type)
  if (check(data)) return []
  return (check.errors ?? []).map(
    ({ instancePath, message, params }) => `${type}: data${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}

/** Throws unless every event that a test left in its database is what the catalogue says. */
export async function checkStoredEvents(db: Db): Promise<void> {
  const rows = await db.read.selectFrom('events').select(['type', 'data']).execute()
  const faults = new Set(rows.flatMap(({ type, data }) => faultsOf(type, JSON.parse(data))))
  if (faults.size > 0) throw new Error(`Events that the catalogue does not know:\n${[...faults].join('\n')}`)
}

const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv, { mode: 'full' })
for (const type of EVENT_TYPES) ajv.addSchema({ ...closed(ENTRIES[type].data), $id: type })

function checkOf(type: EventType): ValidateFunction {
  const check = ajv.getSchema(type)
  if (check === undefined) throw new Error(`no schema of ${type}`)
  return check
}

/** The schema, refusing members it does not name: applications must bear new ones, but we must document them. */
function closed(schema: unknown): object {
  return JSON.parse(JSON.stringify(schema), (_name, part) =>
    part?.type === 'object' && part.properties !== undefined ? { additionalProperties: false, ...part } : part,
  )
}
