import fastJson from 'fast-json-stringify'
import { type Static, type TSchema, Type } from 'typebox'
import { lazy } from '../concurrency/lazy.ts'

/** A time in responses and events: UTC with milliseconds. */
export const timestamp = (description?: string) =>
  Type.String({ format: 'date-time', examples: ['2026-01-31T08:00:00.000Z'], ...(description && { description }) })

/** The value, or null. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/**
 * Options of a schema with keywords that only the OpenAPI document has. The validator and the serializer ignore them, so that
 * the handler decides, with messages of its own.
 */
export function documented(keywords: Readonly<Record<string, unknown>>) {
  return { 'x-documented': keywords }
}

/**
 * Options of a schema that document what an absent member means. With `default` itself the validator would add the member to
 * each request, also to those that change stored values, and the serializer to responses.
 */
export function documentedDefault(value: unknown) {
  return documented({ default: value })
}

/** Options of a schema that the OpenAPI document describes by another one. */
export function documentedAs(schema: unknown) {
  return { 'x-documented-as': schema }
}

/** Writes values as the schema says: its members in its order, and no others. Compiled when first needed. */
export function jsonWriter<Schema extends TSchema>(schema: Schema): (value: Static<Schema>) => string {
  const writer = lazy(() => fastJson(schema))
  return (value) => writer()(value)
}
