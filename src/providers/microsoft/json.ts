/** Graph's JSON, read without trusting any of it: what is missing or of another type reads as absent. */
export type Json = Readonly<Record<string, unknown>>

export function object(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Graph's times are ISO 8601 in UTC. */
export function time(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}

export function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}

/** One page of a collection: `@odata.nextLink` names the next, `@odata.deltaLink` ends a round of changes. */
export interface Page {
  items: Json[]
  nextLink: string | undefined
  deltaLink: string | undefined
}

/** Throws for what is no collection at all. */
export function page(body: unknown): Page {
  const { value, '@odata.nextLink': next, '@odata.deltaLink': delta } = object(body)
  if (!Array.isArray(value)) throw new TypeError('the answer is no collection')
  return { items: value.map(object), nextLink: text(next), deltaLink: text(delta) }
}
