import type { Static } from 'typebox'
import * as Type from 'typebox'
import { nullable, timestamp } from '../../../platform/formats/json-schema.ts'

export const queuedAccountSchema = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    paused: Type.Boolean(),
    state: Type.Enum(['idle', 'waiting', 'active'], { type: 'string' }),
    attempts: Type.Integer({ description: 'Consecutive failures.' }),
    lastError: nullable(Type.String()),
    lastRunAt: nullable(timestamp()),
    nextRunAt: nullable(timestamp()),
    lagMs: nullable(Type.Integer()),
  },
  { title: 'QueuedAccount' },
)
export type QueuedAccount = Static<typeof queuedAccountSchema>
