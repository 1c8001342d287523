import type { Static, TSchema } from 'typebox'
import { exceededJsonLimit, type JsonLimits } from '../../../platform/formats/json-limits.ts'
import { schemaCheck } from '../../../platform/formats/schema-check.ts'

/** A JSON object of a provider, read without trusting it: members that are missing or of another type count as absent. */
export type Json = Readonly<Record<string, unknown>>

/** A response lacks what it must contain, or has it in another form. */
export class UnexpectedResponse extends Error {
  override name = 'UnexpectedResponse'
}

/** Validates a response; other members are allowed. Compiled at the first use. The error, `UnexpectedResponse`, never quotes the response. */
export function parser<Schema extends TSchema>(schema: Schema): (body: unknown) => Static<Schema> {
  const isExpected = schemaCheck(schema)
  return (body) => {
    if (!isExpected(body)) throw new UnexpectedResponse('the response does not have the expected form')
    return body
  }
}

export function object(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** An ISO 8601 time in ms. */
export function time(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}

export function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}

/** More than any page of a provider has. Parsing without a limit could hold the event loop for seconds. */
export const PAGE_LIMITS: JsonLimits = { depth: 500, values: 300_000 }

/** Undefined when the text is not JSON or exceeds a limit. */
export function parseJson(text: string | undefined): unknown {
  if (text === undefined || exceededJsonLimit(text, PAGE_LIMITS) !== undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
