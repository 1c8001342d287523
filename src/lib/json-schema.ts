import fastJson from 'fast-json-stringify'
import { type Static, type TSchema, Type } from 'typebox'
import { lazy } from './lazy.ts'

/** A time in responses and events: UTC with milliseconds. */
export const timestamp = (description?: string) =>
  Type.String({ format: 'date-time', examples: ['2026-01-31T08:00:00.000Z'], ...(description && { description }) })

/** The value, or null. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** Writes values as the schema says: its members in its order, and no others. Compiled when first needed. */
export function jsonWriter<Schema extends TSchema>(schema: Schema): (value: Static<Schema>) => string {
  const writer = lazy(() => fastJson(schema))
  return (value) => writer()(value)
}
