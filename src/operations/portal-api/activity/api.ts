import type { Static } from 'typebox'
import * as Type from 'typebox'
import { nullable, timestamp } from '../../../platform/formats/json-schema.ts'

/** Days and hours of a week, and some more. */
const MAX_PERIODS = 31
/** The time of a period's start in ms. */
const MS = '\\d{13}'

export const activityQuery = Type.Object({
  starts: Type.String({
    pattern: `^${MS}(,${MS}){0,${MAX_PERIODS - 1}}$`,
    description: 'The starts of consecutive periods in ms, oldest first. The last one ends now.',
  }),
})

const count = nullable(Type.Integer({ description: 'null before the service counted.' }))

const periodSchema = Type.Object({
  start: timestamp(),
  received: count,
  sent: count,
  booked: count,
  delivered: count,
  failed: count,
  latencyP95Ms: nullable(Type.Integer({ description: 'null when nothing was delivered.' })),
})

export const activitySchema = Type.Object({
  periods: Type.Array(periodSchema),
  /** All periods together. */
  latencyP95Ms: nullable(Type.Integer()),
})
export type Activity = Static<typeof activitySchema>
export type ActivityPeriod = Static<typeof periodSchema>
