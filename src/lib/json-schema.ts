import { type TSchema, Type } from 'typebox'

/** A time in responses and events: UTC with milliseconds. */
export const timestamp = (description?: string) =>
  Type.String({ format: 'date-time', examples: ['2026-01-31T08:00:00.000Z'], ...(description && { description }) })

/** The value, or null. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}
