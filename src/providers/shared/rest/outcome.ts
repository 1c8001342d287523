import { ProviderError, type SendOutcome } from '../../contract/index.ts'

/** A call that happens at most once, however often it is asked for, and remembers how it ended. */
export interface Once {
  run(): Promise<void>
  readonly hasRun: boolean
  /** With the error of the call, once it has failed. */
  readonly failure: { error: unknown } | undefined
}

export function once(call: () => Promise<void>): Once {
  let failure: { error: unknown } | undefined
  let running: Promise<void> | undefined
  return {
    get hasRun() {
      return running !== undefined
    },
    get failure() {
      return failure
    },
    run() {
      running ??= call().catch((error: unknown) => {
        failure = { error }
        throw error
      })
      return running
    },
  }
}

/** Errors that only a response causes: the provider has not executed the request. */
const REFUSALS: ReadonlySet<string> = new Set(['rejected', 'auth_expired', 'rate_limited', 'not_found'])

/** Whether the provider has certainly not executed the request that ended with this error. */
export function isRefusal({ kind }: ProviderError): boolean {
  return REFUSALS.has(kind)
}

/**
 * The outcome of sending over a REST API. `send` returns the id of the sent message, if it is known. After the commit, a failure that
 * is not a refusal leaves the outcome unknown, and is thrown.
 */
export async function toOutcome(commit: Once, send: () => Promise<string | null>): Promise<SendOutcome> {
  try {
    return { sent: true, providerMessageId: await send(), refused: [] }
  } catch (error) {
    if (commit.failure !== undefined) throw commit.failure.error
    if (!(error instanceof ProviderError)) throw error
    if (commit.hasRun && !isRefusal(error)) throw error
    const isFinal = error.kind === 'rejected' || error.kind === 'auth_expired' || error.kind === 'not_found'
    const retry = !isFinal || error.maySucceedLater
    return { sent: false, error, retry, refused: [] }
  }
}
