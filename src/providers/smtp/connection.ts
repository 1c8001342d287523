import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import type { SecureContext } from 'node:tls'
import type {
  SMTPConnectionAuth,
  SMTPConnectionSendInfo,
  default as SmtpConnection,
} from 'nodemailer/lib/smtp-connection'
import { anyAborted, untilAborted } from '../../platform/concurrency/abort.ts'
import { ScramClient } from '../../platform/crypto/scram.ts'
import { asciiEmail, needsSmtpUtf8 } from '../../platform/formats/email-address.ts'
import type { AddressGuard } from '../../platform/net/index.ts'
import { ProviderError, type QueuedMessage, type SendOutcome, type SmtpSettings } from '../contract/index.ts'
import { refusedToken, withoutOAuth } from '../shared/sasl/index.ts'
import { readFacts, refusedRecipient, smtpError } from './errors.ts'
import type { SmtpLimits } from './limits.ts'
import { limitEmptyLines } from './reply-limits.ts'
import { challengeMechanism, oauthMechanism, scramLogin, takesPassword, tokenLogin } from './sasl-login.ts'

export interface SmtpDialing {
  guard: AddressGuard
  limits: SmtpLimits
  tlsContext(): SecureContext
  /** Called after a login without encryption. */
  onPlainLogin(host: string, port: number): void
}

/** What the account logs in with. */
export type SmtpCredentials = { password: string } | { accessToken: string }

interface SmtpLogin {
  settings: SmtpSettings
  credentials: SmtpCredentials
  allowSelfSigned: boolean
}

/**
 * One logged-in connection, to the address that the guard has checked and with a certificate valid for the host in the settings. Sends
 * one message at a time.
 */
export interface SmtpClient {
  readonly isOpen: boolean
  /** As `Sender.send`. */
  send(message: QueuedMessage, onCommit: () => Promise<void>, signal: AbortSignal): Promise<SendOutcome>
  close(): void
}

/** Connects and logs in. Throws `ProviderError`. */
export async function connectSmtp(login: SmtpLogin, dialing: SmtpDialing, signal: AbortSignal): Promise<SmtpClient> {
  const { settings, allowSelfSigned } = login
  const { guard, limits, tlsContext } = dialing
  const doing = `signing in at ${settings.host}:${settings.port}`
  const limit = AbortSignal.timeout(limits.connectMs)
  const either = AbortSignal.any([signal, limit])
  let connection: SmtpConnection | undefined
  const hangUp = () => connection?.close()
  either.addEventListener('abort', hangUp, { once: true })
  try {
    const { default: Connection } = await import('nodemailer/lib/smtp-connection')
    const target = await untilAborted(guard.check(settings), either)
    const mayBePlain = settings.allowPlain === true && guard.allowsPlain(target)
    const made = new Connection({
      host: target.address,
      port: settings.port,
      secure: settings.security === 'tls',
      requireTLS: settings.security === 'starttls' && !mayBePlain,
      ...(isIP(settings.host) === 0 && { servername: settings.host }),
      tls: { rejectUnauthorized: !allowSelfSigned, secureContext: tlsContext() },
      connectionTimeout: limits.connectMs,
      greetingTimeout: limits.connectMs,
      socketTimeout: limits.silenceMs,
      maxResponseSize: limits.replyBytes,
      logger: false,
    })
    connection = made
    limitEmptyLines(made)
    let failure: unknown
    // An error event without a listener would end the process.
    made.on('error', (error) => {
      failure ??= error
    })
    const failed = new Promise<never>((_, reject) => made.once('error', reject))
    failed.catch(() => {})
    const connected = callback((done) => made.connect(done))
    await untilAborted(Promise.race([connected, failed]), either)
    // The last reply is the one to EHLO, which names the extensions of the server.
    const ehlo = String(made.lastServerResponse)
    const takesUtf8 = SMTPUTF8.test(ehlo)
    if (made.allowsAuth || 'accessToken' in login.credentials) {
      const auth = chooseAuth(made, ehlo, login, doing)
      const done = callback((finish) => made.login(auth, (error) => finish(error)))
      await untilAborted(Promise.race([done, failed]), either)
    }
    if (!made.secure) dialing.onPlainLogin(settings.host, settings.port)
    return new Client(made, settings, { limits, takesUtf8 }, () => failure)
  } catch (error) {
    hangUp()
    if (limit.aborted && !signal.aborted) {
      throw new ProviderError('unavailable', `${doing}: no response within ${limits.connectMs / 1000} s`, {
        timedOut: true,
      })
    }
    throw loginError(error, doing, login.credentials)
  } finally {
    either.removeEventListener('abort', hangUp)
  }
}

/** The credentials, with the mechanism where nodemailer would not choose it. */
function chooseAuth(
  connection: SmtpConnection,
  ehlo: string,
  { settings: { username, host, port }, credentials }: SmtpLogin,
  doing: string,
): SMTPConnectionAuth {
  if ('accessToken' in credentials) {
    const oauth = oauthMechanism(ehlo)
    if (oauth === undefined) throw withoutOAuth(doing)
    const exchange = { mechanism: oauth, username, host, port, ...credentials }
    connection.customAuth.set(TOKEN_LOGIN, (context) => tokenLogin(context, doing, exchange))
    return { method: TOKEN_LOGIN }
  }
  const { password } = credentials
  // nodemailer would send the password by PLAIN, which the server then refuses as if the password were wrong.
  if (!takesPassword(ehlo)) throw Object.assign(new Error('No mechanism takes a password.'), { code: 'ENOAUTH' })
  const login = { user: username, pass: password }
  const mechanism = challengeMechanism(ehlo, connection.secure)
  if (mechanism === undefined) return { credentials: login }
  if (mechanism === 'CRAM-MD5') return { credentials: login, method: mechanism }
  const client = new ScramClient({ mechanism, username, password })
  connection.customAuth.set(mechanism, (context) => scramLogin(context, client))
  return { credentials: login, method: mechanism }
}

/** A login that is refused for no other reason is refused because of the token. */
function loginError(error: unknown, doing: string, credentials: SmtpCredentials): ProviderError {
  const failure = smtpError(error, doing)
  const isRefused = failure.kind === 'auth_expired' && failure.problem === undefined
  return isRefused && 'accessToken' in credentials && !(error instanceof ProviderError)
    ? refusedToken(doing, undefined)
    : failure
}

/** With the name XOAUTH2, nodemailer would log in with PLAIN instead, because it wants to fetch the tokens for that mechanism itself. */
const TOKEN_LOGIN = 'ACCESS-TOKEN'

/** The reply to a command out of order: the server does not know that the last transaction ended. */
const BAD_SEQUENCE = 503
const SMTPUTF8 = /^250[ -]SMTPUTF8\b/im

interface ServerTraits {
  limits: SmtpLimits
  /** The server accepts addresses with characters outside ASCII (RFC 6531). */
  takesUtf8: boolean
}

class Client implements SmtpClient {
  readonly #connection: SmtpConnection
  readonly #server: string
  readonly #limits: SmtpLimits
  readonly #takesUtf8: boolean
  readonly #failure: () => unknown
  #isClosed = false
  /** The server refused the last message, and may wait for another recipient of it. */
  #mustReset = false

  constructor(
    connection: SmtpConnection,
    { host, port }: SmtpSettings,
    { limits, takesUtf8 }: ServerTraits,
    failure: () => unknown,
  ) {
    this.#connection = connection
    this.#server = `${host}:${port}`
    this.#limits = limits
    this.#takesUtf8 = takesUtf8
    this.#failure = failure
    connection.once('end', () => this.close())
    connection.once('error', () => this.close())
  }

  get isOpen(): boolean {
    return !this.#isClosed && this.#failure() === undefined
  }

  async send(message: QueuedMessage, onCommit: () => Promise<void>, signal: AbortSignal): Promise<SendOutcome> {
    const doing = `sending over ${this.#server}`
    const envelope = {
      from: asciiEmail(message.from),
      to: message.recipients.map(asciiEmail),
      size: message.sizeBytes,
      use8BitMime: true,
    }
    const foreign = [envelope.from, ...envelope.to].filter(needsSmtpUtf8)
    if (foreign.length > 0 && !this.#takesUtf8) return withoutUtf8(doing, foreign)
    const either = anyAborted([signal], this.#limits.sendMs)
    let refusal: { error: unknown } | undefined
    let isComplete = false
    // Read only after the 354. Until its end, the server has not seen the end of the message and must discard it.
    async function* content(): AsyncGenerator<Buffer> {
      try {
        await onCommit()
      } catch (error) {
        refusal = { error }
        throw error
      }
      yield* message.bytes()
      isComplete = true
    }
    const source = Readable.from(content(), { objectMode: false })
    const hangUp = () => this.close()
    either.signal.addEventListener('abort', hangUp, { once: true })
    try {
      await this.#resetIfRefused(either.signal)
      const sent = callback<SMTPConnectionSendInfo>((done) => {
        this.#connection.send(envelope, source, done)
      })
      const info = await untilAborted(sent, either.signal)
      const refused = (info?.rejectedErrors ?? []).map(refusedRecipient)
      return { sent: true, providerMessageId: null, refused }
    } catch (error) {
      source.destroy()
      if (refusal !== undefined) {
        this.close()
        throw refusal.error
      }
      return this.#failed(error, doing, isComplete)
    } finally {
      either.done()
    }
  }

  /** A connection that cannot be reset is closed as any other that fails, and the message is sent over a new one. */
  async #resetIfRefused(signal: AbortSignal): Promise<void> {
    if (!this.#mustReset) return
    const reset = callback<boolean>((done) => this.#connection.reset(done))
    await untilAborted(reset, signal)
    this.#mustReset = false
  }

  #failed(error: unknown, doing: string, isComplete: boolean): SendOutcome {
    const { code, reply, refused } = readFacts(error)
    const isRefused = reply !== null && (code === 'EENVELOPE' || code === 'EMESSAGE')
    // A refusal leaves the connection usable, except for what may follow a 421 and a 503. Any other failure ends it.
    const replies = [reply, ...refused.map((refusal) => refusal.code)]
    if (!isRefused || reply === 421 || replies.includes(BAD_SEQUENCE)) this.close()
    this.#mustReset = isRefused
    if (isComplete && !isRefused) throw smtpError(error, doing)
    const failure = smtpError(error, doing)
    const retry = failure.kind !== 'rejected' && failure.kind !== 'auth_expired'
    const onlyThisMessage = code === 'EMESSAGE' && failure.kind !== 'rate_limited'
    return { sent: false, error: failure, retry, refused, onlyThisMessage }
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#connection.close()
  }
}

/** Without the extension, a server would read the bytes of such an address as it likes. */
function withoutUtf8(doing: string, emails: readonly string[]): SendOutcome {
  const diagnostic = 'The server does not support SMTPUTF8, which this address needs.'
  const what = 'the server does not accept addresses with characters outside ASCII before the @ (no SMTPUTF8)'
  return {
    sent: false,
    error: new ProviderError('rejected', `${doing}: ${what}`),
    retry: false,
    refused: emails.map((email) => ({ email, code: null, diagnostic })),
  }
}

/** A call with a Node callback as a promise. */
function callback<T = void>(call: (done: (error?: Error | null, value?: T) => void) => void): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    call((error, value) => (error ? reject(error) : resolve(value)))
  })
}
