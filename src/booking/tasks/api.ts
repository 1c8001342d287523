import type { Static } from 'typebox'
import * as Type from 'typebox'
import { nullable, timestamp } from '../../platform/formats/json-schema.ts'
import { listSchema, pageQuery } from '../../platform/http/index.ts'
import { isoTime, isoTimeOrNull } from '../../platform/time/time.ts'
import type { TaskRow } from '../tables.ts'

export const TASK_STATUSES = ['waiting', 'active', 'completed', 'failed', 'cancelled'] as const
const TASK_TYPES = ['callback', 'calendar', 'message', 'reminder', 'decision'] as const

const status = Type.Enum([...TASK_STATUSES])
const type = Type.Enum([...TASK_TYPES])

export const jobSchema = Type.Object(
  {
    id: Type.String(),
    bookingId: Type.String(),
    type,
    subject: Type.String({ description: 'What distinguishes jobs of one type, such as the kind of message.' }),
    status,
    attempts: Type.Integer(),
    lastError: nullable(Type.String()),
    dueAt: nullable(timestamp('When it runs next. Null once it has ended.')),
    giveUpAt: timestamp('Failed attempts are repeated until then.'),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'SchedulerJob' },
)

export const jobList = listSchema('jobs', jobSchema)
export const jobParams = Type.Object({
  jobId: Type.String({ minLength: 1, maxLength: 64, description: 'The id of the job.' }),
})
export const jobQuery = Type.Object({
  ...pageQuery,
  status: Type.Optional({ ...status, description: 'Only jobs in this state.' }),
  type: Type.Optional({ ...type, description: 'Only jobs of this type.' }),
  bookingId: Type.Optional(Type.String({ maxLength: 64, description: 'Only jobs of this booking.' })),
})
export type JobQuery = Static<typeof jobQuery>

const count = Type.Integer({ minimum: 0 })
export const queueStatus = Type.Object(
  {
    counts: Type.Object(
      { waiting: count, active: count, completed: count, failed: count, cancelled: count },
      { description: 'Jobs in each status, each counted up to 10,000.' },
    ),
    oldestDueAt: nullable(timestamp('When the next open job is due. In the past: jobs are late.')),
    lateMs: Type.Integer({ minimum: 0, description: 'For how long the oldest open job has been due.' }),
  },
  { title: 'SchedulerQueueStatus' },
)

export function jobView(row: TaskRow): Static<typeof jobSchema> {
  return {
    id: row.id,
    bookingId: row.bookingId,
    type: row.type,
    subject: row.subject,
    status: row.status,
    attempts: row.attempts,
    lastError: row.lastError,
    dueAt: isoTimeOrNull(row.dueAt),
    giveUpAt: isoTime(row.giveUpAt),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  }
}
