import type { Db, Tx } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { type App, done, type Idempotency } from '../../platform/http/index.ts'
import { isoTimeOrNull } from '../../platform/time/time.ts'
import { jobList, jobParams, jobQuery, jobSchema, jobView, queueStatus } from './api.ts'
import { addTasks, type TaskDeps, taskStore } from './store.ts'

interface JobRouteDeps extends TaskDeps {
  db: Db
  idempotency: Idempotency
}

const RETRY_MS = 24 * 60 * 60_000
const tags = ['Scheduler']

/** Registers the routes where operators see the remaining work of bookings. */
export function jobRoutes(app: App, deps: JobRouteDeps): void {
  const { db, clock, idempotency } = deps

  app.get(
    '/scheduler-queue/status',
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'getSchedulerQueueStatus',
        summary: 'Get the state of the booking queue',
        response: { 200: queueStatus },
      },
    },
    async () => {
      const store = taskStore(db.read)
      const [counts, oldest] = await Promise.all([store.counts(), store.oldestDue()])
      return {
        counts,
        oldestDueAt: isoTimeOrNull(oldest),
        lateMs: oldest === null ? 0 : Math.max(0, clock.now() - oldest),
      }
    },
  )

  app.get(
    '/scheduler-queue/jobs',
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'listSchedulerJobs',
        summary: 'List the jobs of bookings, newest first',
        description:
          'callback: asks the booking callback again after a crash. calendar: brings the calendars of the hosts to the state of the booking. message: sends one message. reminder: announces that a booking starts soon.',
        querystring: jobQuery,
        response: { 200: jobList },
      },
    },
    async ({ query }) => {
      const { items, pagination } = await taskStore(db.read).list(query)
      return { jobs: items.map(jobView), pagination }
    },
  )

  app.post(
    '/scheduler-queue/jobs/:jobId/retry',
    {
      config: { access: 'key:write', audit: 'job.retried' },
      schema: {
        tags,
        operationId: 'retrySchedulerJob',
        summary: 'Run a job now',
        description: 'Also one that failed or was cancelled. It does nothing when the booking has changed meanwhile.',
        params: jobParams,
        response: { 200: jobSchema },
      },
    },
    idempotency.writing(async ({ params }) => async (tx: Tx) => {
      const task = await taskStore(tx).get(params.jobId, db.dialect)
      if (task.status === 'completed') throw new AppError('conflict', { message: 'The job is completed.' })
      if (task.status === 'active') throw new AppError('conflict', { message: 'The job is running.' })
      const { bookingId, type, subject } = task
      const nowMs = clock.now()
      await addTasks(tx, deps, bookingId, [{ type, subject, dueAt: nowMs, giveUpAt: nowMs + RETRY_MS }])
      return jobView(await taskStore(tx).get(task.id, db.dialect))
    }),
  )

  app.post(
    '/scheduler-queue/jobs/:jobId/cancel',
    {
      config: { access: 'key:write', audit: 'job.cancelled' },
      schema: {
        tags,
        operationId: 'cancelSchedulerJob',
        summary: 'Cancel a job',
        description: 'The booking stays as it is. 409 for a job that has ended.',
        params: jobParams,
        response: { 200: done },
      },
    },
    idempotency.writing(async ({ params }) => async (tx: Tx) => {
      const task = await taskStore(tx).get(params.jobId, db.dialect)
      if (task.dueAt === null) throw new AppError('conflict', { message: `The job is ${task.status}.` })
      const ended = { status: 'cancelled' as const, dueAt: null, lease: null, leasedUntil: null }
      await taskStore(tx).update(task.id, { ...ended, updatedAt: clock.now() })
      return { success: true, message: 'The job will not run.' }
    }),
  )
}
