import type { Db } from '../db/index.ts'
import type { Log } from '../log/index.ts'
import type { Queue, Run, Worker, WorkOptions } from './queue.ts'

interface SweptWorkerDeps {
  db: Pick<Db, 'transaction'>
  queue: Queue
  log: Log
}

interface SweptWork extends WorkOptions {
  /** The queue. */
  name: string
  run: Run
  /** Keys whose rows are due. */
  due(): Promise<readonly string[]>
  sweepMs: number
  /** For the log: `outbox.sweep`. */
  operation: string
}

/**
 * The worker of a queue, and the sweeper that adds a job for everything that is due: a lost job, or the loss of the whole queue,
 * delays work by at most one sweep.
 */
export function sweptWorker({ db, queue, log }: SweptWorkerDeps, work: SweptWork): Worker & { start(): Promise<void> } {
  let worker: Worker | undefined
  let timer: NodeJS.Timeout | undefined
  let sweeping: Promise<void> = Promise.resolve()

  async function queueDue(): Promise<void> {
    const due = await work.due()
    if (due.length > 0) await db.transaction((tx) => queue.addIn(tx, work.name, due))
  }

  return {
    async start() {
      await queueDue()
      worker = queue.work(work.name, work, work.run)
      timer = setInterval(() => {
        sweeping = queueDue().catch((error: unknown) =>
          log.error('Cannot query the due work of a queue; trying again at the next sweep.', {
            operation: work.operation,
            error,
            metadata: { queue: work.name },
          }),
        )
      }, work.sweepMs)
    },

    async stop(graceMs) {
      clearInterval(timer)
      await sweeping
      await worker?.stop(graceMs)
      worker = undefined
    },
  }
}
