import { backoffMs } from '../../../platform/concurrency/retry.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import type { ProviderError } from '../../../providers/contract/index.ts'
import type { AccountWork } from '../account-work.ts'
import type { SyncTiming } from '../timing.ts'
import type { HostCircuits, Outcome } from './host-circuits.ts'
import { LimitPauses } from './limit-pauses.ts'
import type { LoginPace } from './login-pace.ts'

/** A reserved login may wait so long for a slot. */
const MISSED_LOGIN_MS = 1000

interface AccountPausesDeps {
  clock: Clock
  circuits: HostCircuits
  pace: LoginPace
  timing: SyncTiming
  /** The mail host of the account. */
  host(): string
}

/** Decides how long no run of an account may start: because of its provider, its host, or the logins of others there. */
export class AccountPauses {
  /** While one lasts, what the server announces starts no run. */
  readonly limits: LimitPauses
  readonly #deps: AccountPausesDeps
  /** Monotonic; the provider asked for no requests until then. */
  #until = Number.NEGATIVE_INFINITY
  /** Monotonic; the moment reserved for the next login. */
  #loginAt: number | undefined

  constructor(deps: AccountPausesDeps) {
    this.#deps = deps
    this.limits = new LimitPauses(deps.clock, deps.timing.limitRetry)
  }

  /** The rest of the pause that the provider asked for. Not positive when it is over. */
  get leftMs(): number {
    return this.#until - this.#deps.clock.monotonic()
  }

  begin(pauseMs: number): void {
    this.#until = this.#deps.clock.monotonic() + pauseMs
  }

  end(): void {
    this.#until = Number.NEGATIVE_INFINITY
  }

  /** So many runs in a row could not reach the host that the account counts as stalled. */
  get isHostStalled(): boolean {
    const { circuits, timing, host } = this.#deps
    return circuits.failures(host()) >= timing.stalledAfter
  }

  recordHost(outcome: Outcome): void {
    this.#deps.circuits.record(this.#deps.host(), outcome)
  }

  /** How long the host stays unreachable. 0 while the session is open: it needs no new connection. */
  unreachableMs(work: AccountWork | undefined): number {
    return work === undefined || work.isOpen ? 0 : this.#deps.circuits.waitMs(this.#deps.host())
  }

  /** How long no run may start. When it is 0, the run uses the moment reserved for its login, if it needs one. */
  heldMs(work: AccountWork | undefined, account: { isStalled: boolean; isPaused: boolean }): number {
    if (this.limits.leftMs > 0) return this.limits.leftMs
    if (this.leftMs > 0) return this.leftMs
    const unreachableMs = account.isStalled || !this.isHostStalled ? this.unreachableMs(work) : 0
    if (unreachableMs > 0) return unreachableMs
    return work?.isOpen === true || account.isPaused ? 0 : this.#takeLogin()
  }

  /** 0 when the run may log in now, which uses the reserved moment. */
  #takeLogin(): number {
    const { clock, pace, host } = this.#deps
    const nowMs = clock.monotonic()
    // A moment that passed long ago, because the host was unreachable, has passed for its other accounts too.
    const isMissed = this.#loginAt !== undefined && nowMs - this.#loginAt > MISSED_LOGIN_MS
    if (this.#loginAt === undefined || isMissed) this.#loginAt = pace.reserve(host())
    if (this.#loginAt > nowMs) return this.#loginAt - nowMs
    this.#loginAt = undefined
    return 0
  }

  /** The pause after a failed run, which grows with the attempts. Begins the pause that the provider asked for. */
  retryInMs(error: ProviderError, attempts: number, work: AccountWork | undefined): number {
    // 0: the provider named a date that, by our clock, has passed.
    const { retryAfterMs = 0 } = error
    const backoff = backoffMs(attempts, this.#deps.timing.retry)
    if (retryAfterMs === 0) return backoff
    // A server that is only busy names no time, so that the pauses grow.
    const pauseMs = Math.max(retryAfterMs * (1 + 0.2 * Math.random()), error.busy ? backoff : 0)
    if (work?.waitsOutPauses === true) this.begin(pauseMs)
    return pauseMs
  }
}
