import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { catalogue, type featureList } from '../../../src/app/feature-list.ts'
import type { NewEvent } from '../../../src/events/index.ts'
import type { Db } from '../../../src/platform/db/index.ts'

/** The declarations of each feature. */
type Declarations = Declared<(typeof featureList)[number]>
type Declared<Feature> = Feature extends { events: infer Events } ? Events : never
type Names<Events> = Events extends unknown ? keyof Events & string : never
export type EventType = Names<Declarations>
type Examples = { [Type in EventType]: Extract<Declarations, Record<Type, { example: object }>>[Type]['example'] }

/** The example of the type, ready to be recorded. */
export function sampleEvent<Type extends EventType>(type: Type): Examples[Type] & { type: Type } {
  return { type, ...(catalogue.get(type).example as Examples[Type]) }
}

/** The members that a test sets; the example of the type supplies the others. */
export interface EventSketch extends Partial<Omit<NewEvent, 'type' | 'data'>> {
  type?: EventType
  data?: Record<string, unknown>
}

/** The example of the type (default `message.received`) with the members of the sketch. Throws when the schema rejects it. */
export function buildEvent({ type = 'message.received', data, ...rest }: EventSketch): NewEvent {
  const sample = sampleEvent(type)
  const event = { ...sample, ...rest, data: { ...sample.data, ...data } }
  const errors = schemaErrors(type, event.data)
  if (errors.length > 0) throw new Error(errors.join('\n'))
  return event
}

/** The differences between `data` and the schema of its type. Undocumented members count as errors. */
export function schemaErrors(type: string, data: unknown): string[] {
  if (catalogue.find(type) === undefined) return [`there is no event type "${type}"`]
  const validate = findValidator(type)
  if (validate(data)) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${type}: data${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}

/** Throws unless every event in the database matches the schema of its type. */
export async function checkStoredEvents(db: Db): Promise<void> {
  const rows = await db.read.selectFrom('events').select(['type', 'data']).execute()
  const errors = new Set(rows.flatMap(({ type, data }) => schemaErrors(type, JSON.parse(data))))
  if (errors.size > 0) throw new Error(`Events that do not match the catalogue:\n${[...errors].join('\n')}`)
}

const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv, { mode: 'full' })
for (const type of catalogue.types) ajv.addSchema({ ...closed(catalogue.get(type).data), $id: type })

function findValidator(type: string): ValidateFunction {
  const validate = ajv.getSchema(type)
  if (validate === undefined) throw new Error(`no schema of ${type}`)
  return validate
}

/** The schema without additional members: applications must tolerate new members, but the documentation must list each. */
function closed(schema: unknown): object {
  return JSON.parse(JSON.stringify(schema), (_name, part) =>
    part?.type === 'object' && part.properties !== undefined ? { additionalProperties: false, ...part } : part,
  )
}
