import type { Static } from 'typebox'
import * as Type from 'typebox'
import { nullable, timestamp } from '../../platform/formats/json-schema.ts'
import { listSchema, pageQuery } from '../../platform/http/index.ts'
import { isoTime, isoTimeOrNull } from '../../platform/time/time.ts'
import { measureRate } from './rate.ts'
import type { BackfillRow } from './store.ts'

const STATUSES = ['idle', 'running', 'paused', 'completed', 'failed', 'cancelled'] as const
export type BackfillStatus = (typeof STATUSES)[number]

export const backfillSchema = Type.Object(
  {
    accountId: Type.String(),
    status: Type.Enum([...STATUSES], { type: 'string' }),
    processed: Type.Integer({ minimum: 0, description: 'Messages processed so far.' }),
    total: nullable(
      Type.Integer({ minimum: 0, description: 'Messages to process in the time range; null until they are counted.' }),
    ),
    ratePerMinute: nullable(Type.Number({ minimum: 0, description: 'Over about the last minute of work.' })),
    secondsLeft: nullable(Type.Integer({ minimum: 0, description: 'Estimate; null when unknown.' })),
    oldestReached: nullable(timestamp('receivedAt of the oldest message processed.')),
    startedAt: nullable(timestamp()),
    updatedAt: nullable(timestamp()),
    lastError: nullable(
      Type.String({ description: 'Human-readable: why it failed or waits, or which folders could not be read.' }),
    ),
  },
  { title: 'Backfill' },
)
export type BackfillView = Static<typeof backfillSchema>

export const backfillList = listSchema('backfills', backfillSchema)

export const backfillQuery = Type.Object({
  ...pageQuery,
  status: Type.Optional(
    Type.Enum([...STATUSES.slice(1)], { type: 'string', description: 'Only those in this state.' }),
  ),
})
export type BackfillQuery = Static<typeof backfillQuery>

export const backfillParams = Type.Object({
  accountId: Type.String({ minLength: 1, description: 'An account id, or its customUserId.' }),
})

/** The backfill of an account that has none. */
export function idleView(accountId: string): BackfillView {
  return {
    accountId,
    status: 'idle',
    processed: 0,
    total: null,
    ratePerMinute: null,
    secondsLeft: null,
    oldestReached: null,
    startedAt: null,
    updatedAt: null,
    lastError: null,
  }
}

export function backfillView(row: BackfillRow): BackfillView {
  const { accountId, status, processed, total, oldestReached, startedAt, updatedAt, lastError } = row
  const ratePerMinute = measureRate(JSON.parse(row.samples))
  return {
    accountId,
    status,
    processed,
    total,
    ratePerMinute,
    secondsLeft: secondsLeft(row, ratePerMinute),
    oldestReached: isoTimeOrNull(oldestReached),
    startedAt: isoTime(startedAt),
    updatedAt: isoTime(updatedAt),
    lastError,
  }
}

function secondsLeft({ status, processed, total }: BackfillRow, ratePerMinute: number | null): number | null {
  if (status === 'completed') return 0
  if (status !== 'running' || total === null || !ratePerMinute) return null
  return Math.ceil((Math.max(0, total - processed) / ratePerMinute) * 60)
}
