import type { Static } from 'typebox'
import * as Type from 'typebox'
import { timestamp } from '../../../platform/formats/json-schema.ts'

export const rateQuery = Type.Object({ endpointId: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })) })

const rate = Type.Object({
  start: timestamp(),
  delivered: Type.Integer(),
  failed: Type.Integer(),
  waiting: Type.Integer(),
})

/** Oldest first, 24 hours and the current one. Counting stops at 10,000 for each value of an hour. */
export const ratesSchema = Type.Object({ hours: Type.Array(rate) })
export type Rates = Static<typeof ratesSchema>

export const overviewSchema = Type.Object({
  accounts: Type.Object({
    total: Type.Integer(),
    connected: Type.Integer({ description: 'Those that sync.' }),
    connecting: Type.Integer(),
    paused: Type.Integer(),
    authError: Type.Integer(),
    error: Type.Integer(),
  }),
  sync: Type.Object({
    stalledAccounts: Type.Integer({ description: 'Those that could not be checked for a while.' }),
    greatestLagMs: Type.Number({ description: 'How long the check of an account is overdue, at most.' }),
  }),
  endpoints: Type.Object({
    total: Type.Integer(),
    inactive: Type.Integer(),
    unreachable: Type.Integer(),
    hasDelivered: Type.Boolean({ description: 'Whether one of them ever accepted an event, also a test event.' }),
  }),
  deliveries: Type.Object({ waiting: Type.Integer({ description: 'Those that will be attempted.' }) }),
  outbox: Type.Object({ waiting: Type.Integer(), uncertain: Type.Integer(), failed: Type.Integer() }),
  calendars: Type.Object({ total: Type.Integer(), failing: Type.Integer() }),
  hasExperience: Type.Boolean(),
})
export type Overview = Static<typeof overviewSchema>
