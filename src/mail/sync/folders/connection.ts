import type { Account } from '../../../accounts/index.ts'
import { sleep } from '../../../platform/concurrency/abort.ts'
import { type FolderMailProvider, type FolderSession, ProviderError } from '../../../providers/contract/index.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'

/** An open session and the account that it belongs to. */
export interface Open {
  session: FolderSession
  accessVersion: number
  /** Monotonic. */
  openedMs: number
  /** `mailbox` is the path of the account's main folder. */
  context: OwnedAccount & { mailbox: string }
}

/**
 * The sync connection of an account: opens it with the current credentials, and replaces or closes it. The methods may be called at
 * any moment, except that calls of `open` do not overlap.
 */
export class FolderConnection {
  readonly #deps: SyncDeps
  readonly #account: Omit<OwnedAccount, 'provider'>
  readonly #mail: FolderMailProvider
  readonly #onChange: (path: string | undefined) => void
  #open: Open | undefined
  #accessChanged = false
  #mustReconnect = false
  /** `closeIfSilent` waits. */
  #isChecking = false
  #triedAccessVersion: number | undefined
  /** The error that ended the last connection and requires a pause. The next `open` throws it. */
  #pauseError: ProviderError | undefined

  /** Calls `onChange` when a folder changed; without a path when any folder may have changed, as after the end of a connection. */
  constructor(
    deps: SyncDeps,
    account: Omit<OwnedAccount, 'provider'>,
    mail: FolderMailProvider,
    onChange: (path: string | undefined) => void,
  ) {
    this.#deps = deps
    this.#account = account
    this.#mail = mail
    this.#onChange = onChange
  }

  get current(): Open | undefined {
    return this.#open
  }

  get triedAccessVersion(): number | undefined {
    return this.#triedAccessVersion
  }

  accessChanged(): void {
    this.#accessChanged = true
    this.#pauseError = undefined
  }

  endPause(): void {
    this.#pauseError = undefined
  }

  reconnect(): void {
    this.#mustReconnect = true
  }

  /** Returns true when it opened a new session. */
  async open(account: Account, signal: AbortSignal): Promise<boolean> {
    const startedMs = this.#deps.clock.monotonic()
    if (this.#mustReconnect) await this.close()
    this.#mustReconnect = false
    if (this.#open !== undefined && !this.#accessChanged) return false
    this.#accessChanged = false
    const pauseError = this.#pauseError
    this.#pauseError = undefined
    if (pauseError !== undefined) throw pauseError
    const { accountId } = this.#account
    const access = await this.#deps.accounts.access(accountId)
    const { accessVersion } = access
    this.#triedAccessVersion = accessVersion
    if (this.#open?.accessVersion === accessVersion) return false
    if (this.#open !== undefined) {
      await this.close()
      await this.#mail.closeConnections(accountId)
    }
    // The session may call back before openSession returns, and a previous one after it was replaced.
    let isCurrent = true
    let opened: Open | undefined
    const session = await this.#mail.openSession(
      access,
      {
        onChange: (path) => {
          if (isCurrent) this.#onChange(path)
        },
        onClose: (error) => {
          if (!isCurrent) return
          isCurrent = false
          this.#lost(account, error, opened === undefined ? undefined : this.#deps.clock.monotonic() - opened.openedMs)
          if (this.#open === opened) this.#open = undefined
          this.#onChange(undefined)
        },
      },
      signal,
    )
    if (signal.aborted || !isCurrent) {
      await session.close()
      throw new ProviderError('unavailable', 'the connection ended before it was used')
    }
    const mailbox = access.settings.imap?.mailbox ?? 'INBOX'
    const openedMs = this.#deps.clock.monotonic()
    opened = { session, accessVersion, openedMs, context: { ...this.#account, provider: account.provider, mailbox } }
    this.#open = opened
    this.#deps.log[chooseLevel(account)]('Connected to the mail server.', {
      accountId,
      provider: account.provider,
      operation: 'sync.connect',
      durationMs: openedMs - startedMs,
      metadata: { host: access.settings.imap?.host, mailbox },
    })
    return true
  }

  async close(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    await open?.session.close()
  }

  /** Closes the connection if it receives nothing for `silentMs` and `isBusy` is true then. */
  async closeIfSilent(silentMs: number, isBusy: () => boolean, signal: AbortSignal): Promise<void> {
    const open = this.#open
    if (open === undefined || this.#isChecking) return
    const { session } = open
    this.#isChecking = true
    try {
      const before = await session.receivedBytes()
      await sleep(silentMs, signal)
      const isSilent = (await session.receivedBytes()) === before
      if (isSilent && isBusy() && this.#open === open) await this.close()
    } finally {
      this.#isChecking = false
    }
  }

  /** The next run reconnects at once, unless the server asked for a pause or exceeded a limit; it then reports the pause. */
  #lost({ watch, provider }: Account, error: ProviderError | undefined, connectedMs: number | undefined): void {
    if (error !== undefined && (error.retryAfterMs !== undefined || error.kind === 'limit_exceeded')) {
      this.#pauseError = error
    }
    this.#deps.log[chooseLevel({ watch })]('The mail server ended the connection; the service connects again.', {
      accountId: this.#account.accountId,
      provider,
      operation: 'sync.disconnect',
      error,
      ...(connectedMs !== undefined && { metadata: { connectedMs: Math.round(connectedMs) } }),
    })
  }
}

/** An account that is not watched connects for each poll. */
function chooseLevel({ watch }: Pick<Account, 'watch'>): 'info' | 'debug' {
  return watch ? 'info' : 'debug'
}
