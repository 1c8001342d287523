import { type SelectQueryBuilder, sql } from 'kysely'
import {
  countMatching,
  type Dialect,
  type Handle,
  insertRows,
  type LeasedTable,
  LeaseLost,
  leasedRows,
  type RowLease,
  type Tables,
  type Tx,
} from '../../platform/db/index.ts'
import { notFound } from '../../platform/errors/app-error.ts'
import { buildPage, type Page, pageRequest } from '../../platform/formats/pagination.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Queue } from '../../platform/queue/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { TaskRow, TaskStatus, TaskType } from '../tables.ts'
import { type JobQuery, TASK_STATUSES } from './api.ts'

/** The queue whose job keys are the bookings with work to do. */
export const BOOK_QUEUE = 'book'

export interface NewTask {
  type: TaskType
  subject: string
  dueAt: number
  /** Failed attempts are repeated until then. */
  giveUpAt: number
}

export interface TaskDeps {
  queue: Queue
  clock: Clock
  ids: Ids
}

/** Adds tasks of a booking. One that exists already starts again, and a run that holds it loses it. */
export async function addTasks(
  tx: Tx,
  { queue, clock, ids }: TaskDeps,
  bookingId: string,
  tasks: readonly NewTask[],
): Promise<void> {
  if (tasks.length === 0) return
  const nowMs = clock.now()
  const rows = tasks.map((task) => ({
    id: ids('btk'),
    bookingId,
    ...task,
    status: 'waiting' as const,
    attempts: 0,
    lastError: null,
    lease: null,
    leasedUntil: null,
    createdAt: nowMs,
    updatedAt: nowMs,
  }))
  const columns = ['status', 'attempts', 'lastError', 'dueAt', 'giveUpAt', 'lease', 'leasedUntil', 'updatedAt']
  const set = columns.map((column) => `"${column}" = excluded."${column}"`).join(', ')
  await insertRows(tx, 'bookingTasks', rows, `on conflict ("bookingId", "type", "subject") do update set ${set}`)
  const first = Math.min(...tasks.map(({ dueAt }) => dueAt))
  // The sweeper finds tasks that are due later.
  if (first - nowMs < SOON_MS) await queue.addIn(tx, BOOK_QUEUE, [bookingId], { delayMs: Math.max(0, first - nowMs) })
}

/** Tasks that are due within this time have a job; the sweeper finds the others. */
export const SOON_MS = 60_000

const ENDED = { dueAt: null, lease: null, leasedUntil: null } as const

/** Ends open tasks of a booking, so that nobody runs them. */
export async function cancelTasks(tx: Tx, bookingId: string, types: readonly TaskType[], nowMs: number): Promise<void> {
  await tx
    .updateTable('bookingTasks')
    .set({ status: 'cancelled', updatedAt: nowMs, ...ENDED })
    .where('bookingId', '=', bookingId)
    .where('type', 'in', [...types])
    .where('dueAt', 'is not', null)
    .execute()
}

export async function hasOpenTask(handle: Handle, bookingId: string, type: TaskType): Promise<boolean> {
  const open = await handle
    .selectFrom('bookingTasks')
    .select('id')
    .where('bookingId', '=', bookingId)
    .where('type', '=', type)
    .where('dueAt', 'is not', null)
    .executeTakeFirst()
  return open !== undefined
}

/** Ends one open task as done. */
export async function completeTask(
  tx: Tx,
  bookingId: string,
  type: TaskType,
  subject: string,
  nowMs: number,
): Promise<void> {
  await tx
    .updateTable('bookingTasks')
    .set({ status: 'completed', updatedAt: nowMs, ...ENDED })
    .where('bookingId', '=', bookingId)
    .where('type', '=', type)
    .where('subject', '=', subject)
    .execute()
}

/** Makes waiting messages due now, because the calendars that they waited for are written. */
export async function makeMessagesDue(tx: Tx, bookingId: string, nowMs: number): Promise<void> {
  await tx
    .updateTable('bookingTasks')
    .set({ dueAt: nowMs })
    .where('bookingId', '=', bookingId)
    .where('type', '=', 'message')
    .where('dueAt', '>', nowMs)
    .where('attempts', '=', 0)
    .execute()
}

/** Tasks are claimed by the runs of their booking. */
export const TASKS: LeasedTable<'bookingTasks'> = {
  name: 'bookingTasks',
  key: 'bookingId',
  dueAt: 'dueAt',
  // The callback decides the state that the calendars get, and messages contain what the calendars say.
  priority: sql`case "type" when 'callback' then 0 when 'calendar' then 1 else 2 end`,
}

/** Claims the next due task of the booking, and counts the attempt. */
export async function claimNext(
  tx: Tx,
  dialect: Dialect,
  { bookingId, nowMs }: { bookingId: string; nowMs: number },
  lease: RowLease,
): Promise<TaskRow | undefined> {
  const [claimed] = await leasedRows(tx, dialect, TASKS).claim({ key: bookingId, nowMs, limit: 1 }, lease)
  if (claimed === undefined) return undefined
  const { id, attempts } = claimed.row
  return taskStore(tx).update(id, { status: 'active', attempts: attempts + 1, updatedAt: nowMs })
}

/** Ends the run of a task. Throws `LeaseLost` unless the run still holds it. */
export async function finishTask(
  tx: Tx,
  task: TaskRow,
  changes: { status: TaskStatus; dueAt: number | null; lastError: string | null; updatedAt: number },
): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('bookingTasks')
    .set({ ...changes, lease: null, leasedUntil: null })
    .where('id', '=', task.id)
    .where('lease', '=', task.lease)
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) throw new LeaseLost(`the task ${task.id} is no longer held by this run`)
}

export function taskStore(handle: Handle) {
  return {
    async get(id: string, dialect: Dialect): Promise<TaskRow> {
      const query = handle.selectFrom('bookingTasks').selectAll().where('id', '=', id).modifyEnd(dialect.forUpdate)
      const row = await query.executeTakeFirst()
      if (row === undefined) throw notFound('job', id)
      return row
    },

    async update(id: string, changes: Partial<TaskRow>): Promise<TaskRow> {
      return handle
        .updateTable('bookingTasks')
        .set(changes)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow()
    },

    /** Newest first. */
    async list(query: JobQuery): Promise<Page<TaskRow>> {
      const filter = ['scheduler-queue', query.status, query.type, query.bookingId]
      const request = pageRequest(query, filter, ['text'])
      const [afterId] = request.after ?? []
      const matching = matched(handle, query)
      const rows = await matching
        .selectAll()
        .$if(afterId !== undefined, (page) => page.where('id', '<', afterId ?? ''))
        .orderBy('id', 'desc')
        .limit(request.limit + 1)
        .offset(request.offset)
        .execute()
      return buildPage(rows, request, await countMatching(handle, matching.select('id')), filter, (row) => [row.id])
    },

    /** Each up to 10,000. */
    async counts(): Promise<Record<TaskStatus, number>> {
      const counts = { waiting: 0, active: 0, completed: 0, failed: 0, cancelled: 0 }
      for (const status of TASK_STATUSES) {
        const { count } = await countMatching(handle, matched(handle, { status }).select('id'))
        counts[status] = count
      }
      return counts
    },

    async oldestDue(): Promise<number | null> {
      const row = await handle
        .selectFrom('bookingTasks')
        .select('dueAt')
        .where('dueAt', 'is not', null)
        .orderBy('dueAt')
        .limit(1)
        .executeTakeFirst()
      return row?.dueAt ?? null
    },
  }
}

type Matching = SelectQueryBuilder<Tables, 'bookingTasks', unknown>

function matched(
  handle: Handle,
  { status, type, bookingId }: Pick<JobQuery, 'status' | 'type' | 'bookingId'>,
): Matching {
  let matching: Matching = handle.selectFrom('bookingTasks')
  if (status !== undefined) matching = matching.where('status', '=', status)
  if (type !== undefined) matching = matching.where('type', '=', type)
  if (bookingId !== undefined) matching = matching.where('bookingId', '=', bookingId)
  return matching
}
