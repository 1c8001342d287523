import type { AttemptInput, Outcome } from '../attempt.ts'

/** The first object that the thread serves. */
export interface ThreadEntry {
  /** Called once. `privateTargets` is the value of PRIVATE_TARGETS. */
  start(host: ThreadHost, settings: { privateTargets: string }): Promise<ServedAttempts>
}

export const ENTRY_METHODS = ['start'] as const satisfies readonly (keyof ThreadEntry)[]

export interface ServedAttempts {
  /** Starts attempts. The outcome of each arrives at the host when it has ended. */
  begin(attempts: readonly NumberedInput[]): Promise<void>
  /** No outcomes of these arrive any more. */
  abort(numbers: readonly number[]): Promise<void>
  /** Resolves when the thread has time for it. */
  ping(): Promise<void>
}

export interface NumberedInput {
  number: number
  input: AttemptInput
}

/** The outcome of the input with the same number. */
export interface NumberedOutcome {
  number: number
  outcome: Outcome
}

/** The reports of the thread to the main thread. */
export interface ThreadHost {
  ended(outcomes: readonly NumberedOutcome[]): Promise<void>
  /** The address guard refused a host. */
  refused(host: string, reason: string): Promise<void>
  /** A request could not be built. */
  failed(message: string, error: unknown): Promise<void>
}
