import { type Static, Type } from 'typebox'
import { nullable, timestamp } from '../../lib/json-schema.ts'
import { declareEvent, EXAMPLE_ACCOUNT } from '../catalogue.ts'

/** The historical sync of one account. */
const backfill = Type.Object(
  {
    accountId: Type.String(),
    status: Type.Enum(['idle', 'running', 'paused', 'completed', 'failed', 'cancelled']),
    processed: Type.Integer({ minimum: 0, description: 'Messages processed so far.' }),
    total: nullable(Type.Integer({ minimum: 0, description: 'Messages in the time range; null until counted.' })),
    ratePerMinute: nullable(Type.Number({ minimum: 0 })),
    secondsLeft: nullable(Type.Integer({ minimum: 0, description: 'Estimate; null when unknown.' })),
    oldestReached: nullable(timestamp('receivedAt of the oldest message processed.')),
    startedAt: nullable(timestamp()),
    updatedAt: timestamp(),
    lastError: nullable(Type.String({ description: 'Human-readable.' })),
  },
  { title: 'Backfill' },
)

const RUNNING: Static<typeof backfill> = {
  accountId: EXAMPLE_ACCOUNT.accountId,
  status: 'running',
  processed: 0,
  total: null,
  ratePerMinute: null,
  secondsLeft: null,
  oldestReached: null,
  startedAt: '2026-11-20T08:00:01.000Z',
  updatedAt: '2026-11-20T08:00:01.000Z',
  lastError: null,
}

const of = (version: number, changes: Partial<typeof RUNNING> = {}) => ({
  ...EXAMPLE_ACCOUNT,
  objectId: EXAMPLE_ACCOUNT.accountId,
  version,
  data: { ...RUNNING, ...changes },
})

export const backfillEvents = {
  'sync.backfill_started': declareEvent('The historical sync of an account started or restarted.', backfill, of(1)),
  'sync.backfill_progress': declareEvent(
    'The historical sync made progress. Sent from time to time, not for every batch.',
    backfill,
    of(12, {
      processed: 5000,
      total: 18_240,
      ratePerMinute: 2450.5,
      secondsLeft: 324,
      oldestReached: '2026-08-02T11:20:09.000Z',
      updatedAt: '2026-11-20T08:02:03.440Z',
    }),
  ),
  'sync.backfill_completed': declareEvent(
    'The historical sync has fetched every message in its time range.',
    backfill,
    of(40, {
      status: 'completed',
      processed: 18_240,
      total: 18_240,
      ratePerMinute: 2432.1,
      secondsLeft: 0,
      oldestReached: '2025-11-20T08:31:47.000Z',
      updatedAt: '2026-11-20T08:07:31.006Z',
    }),
  ),
  'sync.backfill_failed': declareEvent(
    'The historical sync failed. Messages fetched so far are kept, and it can be restarted.',
    backfill,
    of(13, {
      status: 'failed',
      processed: 5000,
      total: 18_240,
      oldestReached: '2026-08-02T11:20:09.000Z',
      updatedAt: '2026-11-20T08:02:14.882Z',
      lastError: 'The mail server rejected the username or password.',
    }),
  ),
}
