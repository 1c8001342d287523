import { declareEvent, EXAMPLE_ACCOUNT } from '../../events/index.ts'
import { type BackfillView, backfillSchema } from './api.ts'

const RUNNING: BackfillView = {
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

const of = (version: number, changes: Partial<BackfillView> = {}) => ({
  ...EXAMPLE_ACCOUNT,
  objectId: EXAMPLE_ACCOUNT.accountId,
  version,
  data: { ...RUNNING, ...changes },
})

export const backfillEvents = {
  'sync.backfill_started': declareEvent(
    'The historical sync of an account started or restarted.',
    backfillSchema,
    of(1),
  ),
  'sync.backfill_progress': declareEvent(
    'The historical sync made progress. Sent from time to time, not for every batch.',
    backfillSchema,
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
    'The historical sync has fetched every message in its time range. lastError names folders that could not be read.',
    backfillSchema,
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
    'The historical sync failed. Messages fetched so far are kept, and it can be resumed.',
    backfillSchema,
    of(13, {
      status: 'failed',
      processed: 5000,
      total: 18_240,
      ratePerMinute: 2450.5,
      oldestReached: '2026-08-02T11:20:09.000Z',
      updatedAt: '2026-11-20T08:02:14.882Z',
      lastError: 'The mail server rejected the username or password.',
    }),
  ),
}
