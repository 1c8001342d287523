import fastJson from 'fast-json-stringify'
import type { Static, TSchema } from 'typebox'
import * as Type from 'typebox'
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

/** Writes values as the schema says: its members in its order, and no others. Compiled when first needed, or by `compile`. */
export interface JsonWriter<Schema extends TSchema> {
  (value: Static<Schema>): string
  compile(): void
}

export function jsonWriter<Schema extends TSchema>(schema: Schema): JsonWriter<Schema> {
  const writer = lazy(() => compileWriter(schema))
  return Object.assign((value: Static<Schema>) => writer()(value), { compile: () => void writer() })
}

/** Simplifying the code that Ajv generates takes a quarter of the time to compile it, and V8 does so as well. */
export const UNOPTIMISED = { code: { optimize: false } } as const

export function compileWriter(schema: object): (value: unknown) => string {
  return fastJson(markNullables(schema), { ajv: UNOPTIMISED })
}

/**
 * The schema with `nullable: true` in place of a choice between one schema and null. For a choice fast-json-stringify compiles an Ajv
 * validator, which takes some ten milliseconds, and calls it for each value. Real choices stay as they are.
 */
export function markNullables<Part>(part: Part): Part
export function markNullables(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(markNullables)
  if (typeof part !== 'object' || part === null) return part
  const schema = CHOICES.some((keyword) => keyword in part) ? findNullable(part) : part
  if (schema === undefined) return part
  return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, markNullables(value)]))
}

const CHOICES = ['anyOf', 'oneOf', 'allOf', 'if']

/** The schema of a value that may be null. Undefined for other choices. */
function findNullable(part: object): object | undefined {
  const { anyOf, ...others } = { anyOf: undefined, ...part }
  const choices: unknown[] = Array.isArray(anyOf) ? anyOf : []
  const [schema, ...rest] = choices.filter((choice) => Object(choice).type !== 'null')
  const type = typeOf(schema)
  if (choices.length !== 2 || rest.length > 0 || type === undefined) return undefined
  return { ...others, ...Object(schema), type, nullable: true }
}

/** The one type of a schema. fast-json-stringify regards `nullable` only beside a type. */
function typeOf(schema: unknown): string | undefined {
  const { type, enum: values } = Object(schema)
  if (typeof type === 'string') return type
  return Array.isArray(values) && values.every((value) => typeof value === 'string') ? 'string' : undefined
}
