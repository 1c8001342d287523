import type { Db } from '../../../platform/db/index.ts'
import { checkEndpoints } from './leases.ts'
import type { RunningWorkers } from './running-workers.ts'

/** Workers are checked this often, with or without hints. */
const CHECK_MS = 1_000
/** The statement passes over the deliveries that workers hold, up to 256 each. More endpoints could hold the event loop of the file store. */
const ENDPOINTS_PER_STATEMENT = 64

interface CheckDeps {
  db: Db
  clock: { now(): number }
  runningWorkers: RunningWorkers
}

/**
 * Looks for due deliveries and changed settings, once a second, for all workers of the process: one statement for many endpoints costs
 * little more than for one. Workers whose check fails end with the error.
 */
export class WorkerChecks {
  readonly #deps: CheckDeps
  #timer: NodeJS.Timeout | undefined
  #checking: Promise<void> | undefined

  constructor(deps: CheckDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#checking ??= this.#check().finally(() => {
        this.#checking = undefined
      })
    }, CHECK_MS)
  }

  /** Resolves when the running check has ended. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#checking
  }

  async #check(): Promise<void> {
    const ids = [...this.#deps.runningWorkers.keys()]
    for (let start = 0; start < ids.length; start += ENDPOINTS_PER_STATEMENT) {
      await this.#checkSome(ids.slice(start, start + ENDPOINTS_PER_STATEMENT))
    }
  }

  async #checkSome(ids: readonly string[]): Promise<void> {
    const { db, clock, runningWorkers } = this.#deps
    const workers = ids.flatMap((id) => runningWorkers.get(id) ?? [])
    try {
      const found = await checkEndpoints(db, ids, clock.now())
      for (const worker of workers) worker.checked(found.get(worker.endpointId))
    } catch (error) {
      for (const worker of workers) worker.fail(error)
    }
  }
}
