import { statSync } from 'node:fs'
import { workerFile } from '../../threads/worker-file.ts'
import { WorkerThread } from '../../threads/worker-thread.ts'

/** The file to which SQLite appends every commit. */
const WAL_SUFFIX = '-wal'
/** 32 MB. A checkpoint writes each changed page once and waits for the disk, so fewer checkpoints are cheaper. */
export const MAX_WAL_BYTES = 32 * 2 ** 20
/** Reading the size of the file takes about 1 % of the time of a commit. */
const COMMITS_PER_CHECK = 8
/** Passes beside running transactions: each leaves only the pages of the commits made meanwhile. */
const PASSES_BESIDE = 2
const PASS_TIMEOUT_MS = 20_000
/** The thread takes some 10 MB. */
const IDLE_MS = 60_000

interface CheckpointerOptions {
  /** Path of the database file. */
  file: string
  /** Runs `body` while no transaction runs. */
  pauseWrites(body: () => Promise<void>): Promise<void>
  /** Runs the checkpoint on this thread, for when the worker thread fails. */
  checkpointHere(): Promise<unknown>
}

/**
 * Moves committed pages from the WAL into the database file on a worker thread, because this takes 50 to 200 ms per 32 MB.
 * SQLite begins its WAL anew only after a checkpoint of every page, so the last pass runs between transactions.
 */
export class Checkpointer {
  readonly #options: CheckpointerOptions
  #commits = 0
  readonly #thread: WorkerThread<undefined, undefined>
  #threadFailed = false
  #running: Promise<void> | undefined
  #closed = false

  constructor(options: CheckpointerOptions) {
    this.#options = options
    this.#thread = new WorkerThread({
      file: workerFile('checkpoint-worker'),
      data: options.file,
      timeoutMs: PASS_TIMEOUT_MS,
      idleMs: IDLE_MS,
    })
  }

  /** Starts a checkpoint when the WAL is large. */
  committed(): void {
    this.#commits += 1
    if (this.#commits % COMMITS_PER_CHECK !== 0 || this.#running !== undefined || this.#closed) return
    const wal = statSync(this.#options.file + WAL_SUFFIX, { throwIfNoEntry: false })
    if ((wal?.size ?? 0) <= MAX_WAL_BYTES) return
    this.#running = this.#checkpoint()
      .catch(warn)
      .finally(() => {
        this.#running = undefined
      })
  }

  /** Ends after the running checkpoint. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#running
    await this.#thread.close()
  }

  async #checkpoint(): Promise<void> {
    if (this.#threadFailed) {
      await this.#options.checkpointHere()
      return
    }
    try {
      for (let pass = 0; pass < PASSES_BESIDE; pass += 1) await this.#pass()
      await this.#options.pauseWrites(() => this.#pass())
    } catch (error) {
      this.#threadFailed = true
      warn(error)
      await this.#thread.close()
    }
  }

  async #pass(): Promise<void> {
    await this.#thread.call(undefined).catch((error: Error) => {
      throw new Error(`A checkpoint of the database failed: ${error.message}`)
    })
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error))
}
