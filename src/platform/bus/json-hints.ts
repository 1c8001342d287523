import type { Static, TSchema } from 'typebox'
import { exceededJsonLimit } from '../formats/json-limits.ts'
import { schemaCheck } from '../formats/schema-check.ts'
import type { Bus } from './bus.ts'

/** A hint has up to 4 KB. */
const LIMITS = { depth: 16, values: 4096 }

/** Reads JSON that another program may have written: undefined when it does not have the form, or too many levels or values. */
export function jsonReader<Schema extends TSchema>(
  schema: Schema,
  limits = LIMITS,
): (text: string) => Static<Schema> | undefined {
  const isExpected = schemaCheck(schema)
  return (text) => {
    if (exceededJsonLimit(text, limits) !== undefined) return undefined
    const value = parsed(text)
    return isExpected(value) ? value : undefined
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Subscribes to hints that are JSON of this form. Others are dropped, counted and logged by the bus: anything that can reach its server
 * may publish them. The listener learns nothing of lost hints.
 */
export function subscribeJson<Schema extends TSchema>(
  bus: Pick<Bus, 'subscribe' | 'reportInvalid'>,
  topic: string,
  schema: Schema,
  listener: (hint: Static<Schema>) => void,
): () => void {
  const read = jsonReader(schema)
  return bus.subscribe(topic, (payload) => {
    if (payload === undefined) return
    const hint = read(payload)
    if (hint === undefined) bus.reportInvalid?.(topic)
    else listener(hint)
  })
}
