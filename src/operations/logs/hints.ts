import * as Type from 'typebox'
import { nullable } from '../../platform/formats/json-schema.ts'
import { LOG_LEVELS } from '../../platform/log/index.ts'

/** Messages that replicas exchange over the bus about their log records. Anything that can reach the bus may send them, too. */

const id = Type.String({ minLength: 1, maxLength: 100 })
const text = Type.Optional(Type.String({ maxLength: 200 }))
const level = Type.Enum([...LOG_LEVELS])

const filter = Type.Object({ level: Type.Optional(level), accountId: text, provider: text, operation: text })
const range = Type.Object({
  upTo: text,
  before: text,
  after: text,
  limit: Type.Integer({ minimum: 0, maximum: 5000 }),
})

/** 2,000 records of a few kilobytes. */
const MAX_PARTS = 5000
const part = {
  index: Type.Integer({ minimum: 0, maximum: MAX_PARTS }),
  count: Type.Integer({ minimum: 1, maximum: MAX_PARTS }),
  text: Type.String({ maxLength: 4096 }),
}

export const requestSchema = Type.Object({ id, from: id, filter, range })
export const responseSchema = Type.Object({ id, from: id, ...part })
export const watchSchema = Type.Object({ from: id, filters: Type.Array(filter, { maxItems: 100 }) })
export const tailSchema = Type.Object({ from: id, batch: id, ...part })

const nullableText = nullable(Type.String())
const anyObject = nullable(Type.Record(Type.String(), Type.Unknown()))
const entry = Type.Object({
  id,
  level,
  message: Type.String(),
  timestamp: Type.String(),
  accountId: nullableText,
  provider: nullableText,
  operation: nullableText,
  requestId: nullableText,
  durationMs: nullable(Type.Number()),
  error: nullable(Type.Object({ name: Type.String(), message: Type.String() })),
  metadata: anyObject,
  instance: Type.String(),
})
const entries = Type.Array(entry)

/** The joined parts of a response. */
export const viewSchema = Type.Object({ entries, total: Type.Integer({ minimum: 0 }) })
/** The joined parts of a tail. */
export const batchSchema = Type.Object({ entries, dropped: Type.Integer({ minimum: 0 }) })

/** Limits a message that joins several parts. */
export const JOINED_LIMITS = { depth: 16, values: 1_000_000 }
