import { type Static, Type } from 'typebox'
import { nullable, timestamp } from '../../infra/http/index.ts'
import { entry } from './entry.ts'
import { ACCOUNT } from './parts.ts'

/** The historical synchronisation of one account. */
const backfill = Type.Object(
  {
    accountId: Type.String(),
    status: Type.Enum(['idle', 'running', 'paused', 'completed', 'failed', 'cancelled']),
    processed: Type.Integer({ minimum: 0, description: 'Messages looked at so far.' }),
    total: nullable(Type.Integer({ minimum: 0, description: 'Messages in the time range; null until counted.' })),
    ratePerMinute: nullable(Type.Number({ minimum: 0 })),
    secondsLeft: nullable(Type.Integer({ minimum: 0, description: 'Estimated; null when nothing can be said.' })),
    oldestReached: nullable(timestamp('receivedAt of the oldest message looked at.')),
    startedAt: nullable(timestamp()),
    updatedAt: timestamp(),
    lastError: nullable(Type.String({ description: 'For people.' })),
  },
  { title: 'Backfill' },
)

const RUNNING: Static<typeof backfill> = {
  accountId: ACCOUNT.accountId,
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
  ...ACCOUNT,
  objectId: ACCOUNT.accountId,
  version,
  data: { ...RUNNING, ...changes },
})

export const syncEvents = {
  'sync.backfill_started': entry('Fetching the older mail of an account began or began again.', backfill, of(1)),
  'sync.backfill_progress': entry(
    'A stretch of older mail was fetched; sent now and then, not per batch.',
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
  'sync.backfill_completed': entry(
    'All older mail in the time range is there.',
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
  'sync.backfill_failed': entry(
    'Fetching older mail ended with an error; what was fetched stays, and it can be restarted.',
    backfill,
    of(13, {
      status: 'failed',
      processed: 5000,
      total: 18_240,
      oldestReached: '2026-08-02T11:20:09.000Z',
      updatedAt: '2026-11-20T08:02:14.882Z',
      lastError: 'The mail server does not accept the user name or the password.',
    }),
  ),
}
