/**
 * Sending for mailboxes with a password: SMTP with the user's settings or derived ones, over connections that the address guard allows.
 * The copy in Sent goes over `SentCopies`, which the IMAP provider implements. Failures leave this folder as `ProviderError` only.
 */
import { createSecureContext, type SecureContext } from 'node:tls'
import { untilAborted } from '../../platform/concurrency/abort.ts'
import { lazy } from '../../platform/concurrency/lazy.ts'
import { type Log, silentLog } from '../../platform/log/index.ts'
import type { AddressGuard } from '../../platform/net/index.ts'
import {
  type MailAccess,
  ProviderError,
  type QueuedMessage,
  type Sender,
  type SenderOptions,
  type SendOutcome,
  type SendProvider,
  type SendSteps,
  type SentCopies,
  type ServerCheck,
  type SmtpSettings,
} from '../contract/index.ts'
import { connectSmtp, type SmtpClient, type SmtpCredentials, type SmtpDialing } from './connection.ts'
import { smtpError } from './errors.ts'
import { KeptConnections, type SignedIn } from './kept-connections.ts'
import { SMTP_LIMITS, type SmtpLimits } from './limits.ts'
import { isComplete, smtpCandidates } from './settings.ts'

export interface SmtpDeps {
  guard: AddressGuard
  copies(access: MailAccess): SentCopies
  log?: Log
  /** Tests make them small. */
  limits?: Partial<SmtpLimits>
  /** Tests trust an authority of their own. */
  tlsContext?: () => SecureContext
}

interface SmtpProvider extends SendProvider, ServerCheck {
  /** Closes the connection of the account that is kept for its next message, or all of them. */
  closeConnections(accountId?: string): void
}

export function smtpProvider(deps: SmtpDeps): SmtpProvider {
  const { guard, copies, log = silentLog, limits = {}, tlsContext = lazy(() => createSecureContext()) } = deps
  const all = { ...SMTP_LIMITS, ...limits }
  const kept = new KeptConnections(all.keptMs)
  const dialing: SmtpDialing = {
    guard,
    limits: all,
    tlsContext,
    onPlainLogin: (host, port) =>
      log.warn(`Signed in at ${host}:${port} without encryption, which the account and PRIVATE_TARGETS allow.`, {
        operation: 'smtp.connect',
        provider: 'imap',
      }),
  }
  return {
    open: (access, options = {}) => new SmtpSender(access, options, { copies: copies(access), dialing, kept }),
    closeConnections: (accountId) => kept.close(accountId),
    async verify(access, signal) {
      const candidates = smtpCandidates(access)
      const connectMs = Math.min(dialing.limits.connectMs, VERIFY_MS / Math.max(1, candidates.length))
      const brief = { ...dialing, limits: { ...dialing.limits, connectMs } }
      const { client } = await signIn(access, candidates, brief, signal, VERIFYING)
      client.close()
    },
  }
}

/** For all servers together. */
const VERIFY_MS = 9_500
const VERIFYING = 'signing in'

/** Signs in at the first server that accepts it. An access token that it refuses is refreshed once. */
async function signIn(
  access: MailAccess,
  candidates: readonly SmtpSettings[],
  dialing: SmtpDialing,
  signal: AbortSignal,
  doing: string,
): Promise<SignedIn> {
  const { secrets, accessToken } = access
  const signInWith = (credentials: SmtpCredentials) =>
    signInAtFirst({ access, credentials, candidates, dialing, signal, doing })
  if (accessToken === undefined) {
    const password = secrets.smtpPassword ?? secrets.password
    if (password === undefined) throw withoutLogin(doing)
    return signInWith({ password })
  }
  const token = await untilAborted(accessToken(), signal)
  try {
    return await signInWith({ accessToken: token })
  } catch (error) {
    if (!(error instanceof ProviderError) || !error.tokenRefused) throw error
    return signInWith({ accessToken: await untilAborted(accessToken(token), signal) })
  }
}

interface SignIn {
  access: MailAccess
  credentials: SmtpCredentials
  candidates: readonly SmtpSettings[]
  dialing: SmtpDialing
  signal: AbortSignal
  doing: string
}

async function signInAtFirst({ access, credentials, candidates, dialing, signal, doing }: SignIn): Promise<SignedIn> {
  if (candidates.length === 0) throw withoutLogin(doing)
  const allowSelfSigned = access.settings.imap?.allowSelfSigned ?? false
  let failure: unknown
  for (const candidate of candidates) {
    try {
      const login = { settings: candidate, credentials, allowSelfSigned }
      return { client: await connectSmtp(login, dialing, signal), settings: candidate }
    } catch (error) {
      failure ??= error
      // A server that knows the user refused the password: asking others might lock the mailbox.
      if (signal.aborted || (error instanceof ProviderError && error.kind === 'auth_expired')) throw error
    }
  }
  throw failure
}

function withoutLogin(doing: string): ProviderError {
  return new ProviderError('auth_expired', `${doing}: the account has no SMTP server or no password`)
}

interface SenderDeps {
  copies: SentCopies
  dialing: SmtpDialing
  kept: KeptConnections
}

/** Signs in at the first message and keeps the connection for the next ones, also for those of the next sender. */
class SmtpSender implements Sender {
  readonly #access: MailAccess
  readonly #options: SenderOptions
  readonly #deps: SenderDeps
  #open: SignedIn | undefined

  constructor(access: MailAccess, options: SenderOptions, deps: SenderDeps) {
    this.#access = access
    this.#options = options
    this.#deps = deps
  }

  async send(message: QueuedMessage, { onCommit }: SendSteps, signal: AbortSignal): Promise<SendOutcome> {
    let hasCommitted = false
    const commit = () => {
      hasCommitted = true
      return onCommit({ providerMessageId: null })
    }
    for (;;) {
      let connected: { client: SmtpClient; wasUsed: boolean }
      try {
        connected = await this.#connected(signal)
      } catch (cause) {
        const error = smtpError(cause, 'sending')
        const retry = error.kind !== 'auth_expired' && error.kind !== 'rejected'
        return { sent: false, error, retry, refused: [] }
      }
      const { client, wasUsed } = connected
      const outcome = await client.send(message, commit, signal)
      // Servers end connections that have been idle, or that have sent many messages. This one then needs a new connection.
      const hasEnded = !outcome.sent && !hasCommitted && !client.isOpen
      if (!hasEnded || !wasUsed || signal.aborted) return outcome
    }
  }

  get copies(): SentCopies {
    return this.#deps.copies
  }

  wasSent({ rfcMessageId, committedAt }: Parameters<Sender['wasSent']>[0], signal: AbortSignal): Promise<boolean> {
    return this.#deps.copies.contains({ rfcMessageId, sentAt: committedAt }, signal)
  }

  async close(): Promise<void> {
    if (this.#open?.client.isOpen) this.#deps.kept.keep(this.#access, this.#open)
    this.#open = undefined
  }

  async #connected(signal: AbortSignal): Promise<{ client: SmtpClient; wasUsed: boolean }> {
    if (this.#open?.client.isOpen) return { client: this.#open.client, wasUsed: true }
    const kept = this.#deps.kept.take(this.#access)
    if (kept !== undefined) {
      this.#open = kept
      return { client: kept.client, wasUsed: true }
    }
    // What an earlier send found counts only where the settings leave something to find.
    const found = isComplete(this.#access) ? undefined : this.#options.smtp
    const lastSettings = this.#open?.settings ?? found
    const candidates = [...(lastSettings === undefined ? [] : [lastSettings]), ...smtpCandidates(this.#access)]
    this.#open = await signIn(this.#access, candidates, this.#deps.dialing, signal, 'sending')
    const { client, settings } = this.#open
    if (!isComplete(this.#access) && settings !== lastSettings) this.#options.onSettings?.(settings)
    return { client, wasUsed: false }
  }
}
