import type { Recorder } from '../../events/index.ts'
import { type Db, type Handle, padded } from '../../platform/db/index.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { isoTime } from '../../platform/time/time.ts'
import type { Experience } from '../experiences/experience.ts'
import type { MailScope } from '../tables.ts'
import { MailLimited, type MailLimits, WINDOW_MS } from './budget.ts'

export interface MailLimitDeps {
  db: Db
  clock: Clock
  log: Log
  events: Recorder
  mailLimits: MailLimits
}

/** The last time that a budget of an experience was used up. */
export interface MailLimit {
  limit: MailScope
  limitedAt: string
  refusedRequests: number
}

const HOUR_MS = 60 * 60_000

/** Runs a request; when a budget of messages refuses it, the operator reads so in the log, in the portal and in an event. */
export async function reportingLimits<T>(
  deps: MailLimitDeps,
  experience: Experience,
  request: () => Promise<T>,
): Promise<T> {
  try {
    return await request()
  } catch (error) {
    if (error instanceof MailLimited) await recordLimit(deps, experience, error.scope)
    throw error
  }
}

/** Emits at most one event per window. Counts the requests, for the portal. */
async function recordLimit(deps: MailLimitDeps, { id, slug }: Experience, limit: MailScope): Promise<void> {
  const { db, clock, log, events, mailLimits } = deps
  const nowMs = clock.now()
  const isFirst = await db.transaction(async (tx) => {
    const first = { experienceId: id, kind: limit, refused: 0, limitedAt: nowMs, version: 0 }
    // Locks the row.
    const stored = await tx
      .insertInto('mailLimits')
      .values(first)
      .onConflict((conflict) => conflict.column('experienceId').doUpdateSet({ experienceId: id }))
      .returningAll()
      .executeTakeFirstOrThrow()
    const begins = stored.version === 0 || stored.limitedAt <= nowMs - WINDOW_MS
    const next = begins
      ? { kind: limit, refused: 1, limitedAt: nowMs, version: stored.version + 1 }
      : { refused: stored.refused + 1 }
    await tx.updateTable('mailLimits').set(next).where('experienceId', '=', id).execute()
    if (!begins) return false
    const data = { experienceSlug: slug, limit, messages: mailLimits[limit], windowHours: WINDOW_MS / HOUR_MS }
    const version = stored.version + 1
    await events.record(tx, [
      { type: 'booking.mail_limited', accountId: null, provider: null, objectId: id, version, data },
    ])
    return true
  })
  if (!isFirst) return
  const setting = SETTINGS[limit]
  log.warn(
    `Refused a booking of the experience "${slug}": its message would exceed ${mailLimits[limit]} messages to addresses that are not verified in 24 hours per ${limit}. Set verifyEmail in its form, or raise ${setting} if these guests are real.`,
    { operation: 'scheduler.mail', metadata: { experience: slug, limit } },
  )
}

const SETTINGS: Readonly<Record<MailScope, string>> = {
  experience: 'SCHEDULER_MAIL_PER_EXPERIENCE',
  client: 'SCHEDULER_MAIL_PER_CLIENT',
  account: 'SCHEDULER_MAIL_PER_ACCOUNT',
  address: 'SCHEDULER_MAIL_PER_ADDRESS',
}

/** By experience; none for those of which no budget was used up within the window. */
export async function findMailLimits(
  handle: Handle,
  experienceIds: readonly string[],
  nowMs: number,
): Promise<Map<string, MailLimit>> {
  if (experienceIds.length === 0) return new Map()
  const rows = await handle
    .selectFrom('mailLimits')
    .selectAll()
    .where('experienceId', 'in', padded(experienceIds))
    .where('limitedAt', '>', nowMs - WINDOW_MS)
    .execute()
  return new Map(
    rows.map(({ experienceId, kind, limitedAt, refused }) => [
      experienceId,
      { limit: kind, limitedAt: isoTime(limitedAt), refusedRequests: refused },
    ]),
  )
}
