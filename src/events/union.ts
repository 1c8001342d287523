import type { TProperties } from 'typebox'
import * as Type from 'typebox'
import { pascalCase } from '../platform/formats/text.ts'
import type { EventCatalogue } from './catalogue.ts'
import { eventSchema } from './event.ts'

/** The schemas of all event types, for the OpenAPI document. */
export interface EventUnion {
  /** One of the types. Generated clients distinguish them by `type`. */
  schema: object
  /** The schema of one type: its `type` is fixed, and `data` is that of its declaration. */
  of(type: string): object
}

interface EventUnionNames {
  /** The union's name: `Event`. */
  title: string
  /** Ends the names of its branches: `Event` makes `MessageReceivedEvent`. */
  suffix: string
  /** Members that come before those of the event. */
  head: TProperties
}

/** Describes events of all types by one schema each, which share the members that all have. */
export function eventUnion(catalogue: EventCatalogue, { title, suffix, head }: EventUnionNames): EventUnion {
  const { type: _type, data: _data, ...shared } = eventSchema(catalogue.types).properties
  const common = Type.Object({ ...head, ...shared }, { title: `${title}Head`, description: 'What all types share.' })
  const schemaName = (type: string) => `${pascalCase(type)}${suffix}`
  const branches = new Map(
    catalogue.types.map((type) => {
      const { description, data } = catalogue.get(type)
      const properties = {
        type: Type.Literal(type),
        data,
      }
      const branch = {
        title: schemaName(type),
        type: 'object',
        description,
        allOf: [common],
        properties,
        required: Object.keys(properties),
      }
      return [type, branch]
    }),
  )
  return {
    schema: {
      title,
      oneOf: [...branches.values()],
      discriminator: {
        propertyName: 'type',
        mapping: Object.fromEntries(catalogue.types.map((type) => [type, `#/components/schemas/${schemaName(type)}`])),
      },
    },
    of(type) {
      const branch = branches.get(type)
      if (branch === undefined) throw new Error(`The event type "${type}" is not declared.`)
      return branch
    },
  }
}
