import type { ProviderError, ProviderName } from '../../providers/contract/index.ts'
import type { FolderCounts } from '../labels/index.ts'
import type { RunOutcome, SyncDeps } from './deps.ts'

interface FailedRun {
  attempts: number
  /** Undefined when the account waits for a new consent. */
  nextRunInMs: number | undefined
  /** Only the user can help. */
  isRefused: boolean
  isStalled: boolean
  wasStalled: boolean
}

/** The log entry of each run of one account, which is at most one: what changed, or why the run failed. */
export class RunLog {
  readonly #deps: Pick<SyncDeps, 'clock' | 'log' | 'onRun'>
  readonly #accountId: string
  provider: ProviderName | undefined
  #startedMs = 0
  #counts = nothing()

  constructor(deps: Pick<SyncDeps, 'clock' | 'log' | 'onRun'>, accountId: string) {
    this.#deps = deps
    this.#accountId = accountId
  }

  /** For the metrics. */
  report(outcome: RunOutcome): void {
    if (this.provider !== undefined) this.#deps.onRun?.(this.#accountId, this.provider, outcome)
  }

  begin(): void {
    this.#startedMs = this.#deps.clock.monotonic()
    this.#counts = nothing()
  }

  add({ added, updated, deleted }: FolderCounts): void {
    this.#counts.added += added
    this.#counts.updated += updated
    this.#counts.deleted += deleted
  }

  /** A run that found no change writes nothing. */
  succeeded(): void {
    this.report('succeeded')
    const { added, updated, deleted } = this.#counts
    if (added + updated + deleted === 0) return
    this.#deps.log.info(`Synced messages: ${added} added, ${updated} updated, ${deleted} deleted.`, {
      ...this.#about('sync.account'),
      metadata: { ...this.#counts },
    })
  }

  failed(error: ProviderError, run: FailedRun): void {
    const { attempts, nextRunInMs, isRefused, isStalled, wasStalled } = run
    this.report(isRefused ? 'refused' : isStalled ? 'stalled' : 'retrying')
    const about = (operation: string) => ({
      ...this.#about(operation),
      error,
      metadata: { attempts, nextRunInMs, kind: error.kind, ...this.#counts },
    })
    const seconds = Math.ceil((nextRunInMs ?? 0) / 1000)
    if (isRefused) {
      const next = nextRunInMs === undefined ? '' : ` The next attempt is in ${seconds} s.`
      this.#deps.log.warn(
        `The provider refuses the account (${error.message}). Its sync waits until the user signs in again.${next}`,
        about('sync.refuse'),
      )
      return
    }
    if (error.kind === 'limit_exceeded' || error.retryAfterMs !== undefined) {
      const level = error.kind === 'limit_exceeded' ? 'warn' : 'info'
      this.#deps.log[level](`Syncing of the account pauses for ${seconds} s: ${error.message}.`, about('sync.pause'))
      return
    }
    const level = isStalled && !wasStalled ? 'warn' : 'info'
    this.#deps.log[level](
      `Cannot sync the account (${error.message}); trying again in ${seconds} s.`,
      about('sync.retry'),
    )
  }

  #about(operation: string) {
    const { clock } = this.#deps
    const durationMs = clock.monotonic() - this.#startedMs
    return { accountId: this.#accountId, provider: this.provider, operation, durationMs }
  }
}

const nothing = (): FolderCounts => ({ added: 0, updated: 0, deleted: 0 })
