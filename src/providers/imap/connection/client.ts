import { isIP } from 'node:net'
import type { SecureContext } from 'node:tls'
import type { ImapFlow, ImapFlowOptions } from 'imapflow'
import { untilAborted } from '../../../platform/concurrency/abort.ts'
import { TURN_MS, yieldIfHeld } from '../../../platform/concurrency/event-loop.ts'
import { isProgrammingError } from '../../../platform/errors/programming-errors.ts'
import type { AddressGuard } from '../../../platform/net/index.ts'
import { type ImapSettings, type MailAccess, ProviderError } from '../../contract/index.ts'
import { refusedToken } from '../../shared/sasl/index.ts'
import { connectionLost, providerError, timeoutError } from '../errors.ts'
import { FolderNames } from '../folders/folder-names.ts'
import { FolderOpener } from '../folders/folder-opener.ts'
import { RepeatedListing } from '../folders/repeated-listing.ts'
import { interceptCommands } from './commands.ts'
import { gatedTransport } from './gated-socket.ts'
import { IdlePoll } from './idle-poll.ts'
import type { Pacing } from './pacing.ts'
import type { ParserTurns } from './parser-turns.ts'
import { RESPONSE_LIMITS, ResponseGate } from './response-gate.ts'
import { offerChallengeLogin, requireOAuthLogin } from './sasl-login.ts'
import { withinLimits } from './work-limits.ts'

/** The largest request is for 4 MB of a text and 1 MB of its header. */
export const LARGEST_LITERAL_BYTES = 5 * 1024 * 1024

/** Loads imapflow, which the start does not wait for: with its character sets it would take a fifth of it. */
export const loadImapClient = () => import('imapflow')

/** Options that every connection of this provider needs. */
export interface Dialing {
  guard: AddressGuard
  pacing: Pacing
  turns: ParserTurns
  /** Shared by all connections: each of its own would hold 14 kB and read the root certificates again. */
  tlsContext(): SecureContext
  /** Called after each login without encryption. */
  onPlainLogin(host: string, port: number): void
  /** Called with a programming error that no caller receives. */
  onFault(error: unknown): void
}

export interface DialOptions {
  /** A caller waits for it: it goes before sync connections that reconnect. */
  urgent: boolean
  /** Until the login is done. For `urgent` it includes the wait for a slot at the host. */
  timeoutMs: number
  /** The largest literal that the connection needs. */
  literalBytes: number
  signal: AbortSignal
}

/** Counts of data that the server has sent on a connection. */
export interface Traffic {
  lines: number
  bytes: number
}

/** A logged-in connection, with facts that imapflow does not give. */
export interface ImapClient {
  imap: ImapFlow
  /** Host and port of the settings. */
  server: string
  gate: ResponseGate
  listings: RepeatedListing
  idle: IdlePoll
  folders: FolderOpener
  /** How many folders the last listing on this connection had; undefined before the first one. */
  listed: number | undefined
  /** How many lines of the server could not be parsed. Each may have been a message that is missing from a result. */
  unparsedLines(): number
  traffic(): Traffic
  /** Calls the listener with the totals whenever data arrives, before it is parsed. Returns the function that removes the listener. */
  onTraffic(listener: (total: Traffic) => void): () => void
  /** Why the connection ended, if known. */
  failure(): unknown
  /** Why the server refused the last command; undefined when it did not. */
  lastRefusal(): unknown
  /**
   * Runs work that fetches contents of messages. A limit that the server exceeds meanwhile is the fault of a message: it ends the connection as
   * a lost one.
   */
  whileFetching<T>(work: () => Promise<T>): Promise<T>
  /** Closes the connection for this reason. */
  closeWith(reason: unknown): void
  /** Reports a programming error that no caller receives. */
  onFault(error: unknown): void
}

/** What the account logs in with. */
type Credentials = { password: string } | { accessToken: string }

const CONNECTING = 'connecting to the mail server'

/**
 * Connects and logs in, to the address that the guard has checked, with a certificate valid for the host name in the settings. An access
 * token that the server refuses is refreshed once. Throws `ProviderError`. The client handles imapflow's `error` events, which would
 * otherwise end the process.
 */
export async function dial(access: MailAccess, dialing: Dialing, options: DialOptions): Promise<ImapClient> {
  const { settings, secrets, accessToken } = access
  const { imap } = settings
  const dialWith = (credentials: Credentials) => dialOnce(imap, credentials, dialing, options)
  if (accessToken === undefined) {
    if (secrets.password === undefined) throw withoutLogin()
    return dialWith({ password: secrets.password })
  }
  const token = await untilAborted(accessToken(), options.signal)
  try {
    return await dialWith({ accessToken: token })
  } catch (error) {
    if (!(error instanceof ProviderError) || !error.tokenRefused) throw error
    return dialWith({ accessToken: await untilAborted(accessToken(token), options.signal) })
  }
}

function withoutLogin(): ProviderError {
  return new ProviderError('auth_expired', `${CONNECTING}: the account has no IMAP settings or no password`)
}

async function dialOnce(
  imap: ImapSettings | undefined,
  credentials: Credentials,
  { guard, pacing, turns, tlsContext, onPlainLogin, onFault }: Dialing,
  options: DialOptions,
): Promise<ImapClient> {
  const doing = CONNECTING
  if (imap === undefined) throw withoutLogin()
  let limit = options.urgent ? AbortSignal.timeout(options.timeoutMs) : undefined
  const whileWaiting = limit === undefined ? options.signal : AbortSignal.any([options.signal, limit])
  try {
    return await pacing.run(imap.host, options.urgent, whileWaiting, async () => {
      limit ??= AbortSignal.timeout(options.timeoutMs)
      const signal = AbortSignal.any([options.signal, limit])
      const target = await untilAborted(guard.check(imap), signal)
      const mayBePlain = imap.allowPlain === true && guard.allowsPlain(target)
      const { ImapFlow } = await loadImapClient()
      const client = newClient(ImapFlow, imap, {
        address: target.address,
        mayBePlain,
        credentials,
        timeoutMs: options.timeoutMs,
        literalBytes: options.literalBytes,
        turns,
        tlsContext,
        onFault,
      })
      const hangUp = () => client.imap.close()
      signal.addEventListener('abort', hangUp, { once: true })
      try {
        const ms = 2 * options.timeoutMs
        await withinLimits(client, { ...LOGIN_LIMITS, silenceMs: ms, workMs: ms }, doing, client.imap.connect())
        if (!client.imap.secureConnection) onPlainLogin(imap.host, imap.port)
        return client
      } catch (error) {
        hangUp()
        throw error
      } finally {
        signal.removeEventListener('abort', hangUp)
      }
    })
  } catch (error) {
    if (limit?.aborted && !options.signal.aborted) throw timeoutError(doing, options.timeoutMs, imap.host)
    throw loginError(error, doing, credentials)
  }
}

/** A login that is refused for no other reason is refused because of the token. */
function loginError(error: unknown, doing: string, credentials: Credentials): ProviderError {
  const failure = providerError(error, doing)
  const isRefused = failure.kind === 'auth_expired' && failure.problem === undefined
  if (!isRefused || !('accessToken' in credentials) || error instanceof ProviderError) return failure
  return refusedToken(doing, Reflect.get(Object(error), 'oauthError'))
}

interface Connecting {
  address: string
  credentials: Credentials
  /** Logs in without encryption when the server does not offer STARTTLS. */
  mayBePlain: boolean
  timeoutMs: number
  literalBytes: number
  turns: ParserTurns
  tlsContext(): SecureContext
  onFault(error: unknown): void
}

function newClient(
  Client: typeof ImapFlow,
  settings: ImapSettings,
  { address, credentials, mayBePlain, timeoutMs, literalBytes, turns, tlsContext, onFault }: Connecting,
): ImapClient {
  const limits = { ...RESPONSE_LIMITS, literalBytes, responseBytes: 2 * literalBytes }
  const gate = new ResponseGate(limits)
  const listings = new RepeatedListing()
  let send: (text: string) => void = () => {}
  const idle = new IdlePoll((text) => send(text))
  const names = new FolderNames(() => usesUtf8(imap))
  const listeners = new Set<(total: Traffic) => void>()
  let unparsedLines = 0
  let failure: unknown
  let bytes = 0
  let expunged = 0
  const traffic = () => ({ lines: gate.lines + Math.floor(expunged / EXPUNGED_PER_LINE), bytes })
  const countTraffic = () => {
    const total = traffic()
    for (const listener of listeners) listener(total)
  }
  const countUnparsed = (entry: object) => {
    const unparsed = 'payloadBytes' in entry
    const unhandled = 'msg' in entry && entry.msg === 'Failed to process untagged response'
    if (unparsed || unhandled) unparsedLines += 1
  }
  const logger = {
    trace() {},
    debug() {},
    info() {},
    warn: countUnparsed,
    error: countUnparsed,
    // Otherwise imapflow would compile a copy of every line for the log.
    isLevelEnabled: () => false,
  }
  const imap = new Client({
    ...FIXED_OPTIONS,
    host: address,
    port: settings.port,
    secure: settings.security === 'tls',
    // Undefined: STARTTLS where the server offers it, else plain text.
    doSTARTTLS: settings.security === 'starttls' ? (mayBePlain ? undefined : true) : false,
    auth:
      'password' in credentials
        ? { user: settings.username, pass: credentials.password }
        : { user: settings.username, accessToken: credentials.accessToken },
    tls: { rejectUnauthorized: !settings.allowSelfSigned, secureContext: tlsContext() },
    ...(isIP(settings.host) === 0 && { servername: settings.host }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    logger,
    // The gate acts first. These limits hold even if both should read a line differently.
    maxLiteralSize: LARGEST_LITERAL_BYTES,
    maxLineLength: Math.max(limits.lineBytes, limits.searchBytes),
    maxResponseSize: 2 * LARGEST_LITERAL_BYTES,
    transport: gatedTransport({
      gate,
      listings,
      idle,
      names,
      turns,
      onSocket(sendBy) {
        send = sendBy
      },
      onData(length) {
        bytes += length
        countTraffic()
      },
      onRefused: (error) => closeWith(error),
    }),
    // A VANISHED response of 30 bytes may name 16 million messages, which imapflow reports one by one without a pause, even after the
    // connection is closed. It then waits for a promise that never resolves, and is collected with it.
    expungeHandler(event) {
      if (imap.isClosed) return new Promise(() => {})
      expunged += 1
      if (expunged % EXPUNGED_PER_LINE === 0) countTraffic()
      imap.emit('expunge', event)
      return yieldIfHeld(TURN_MS)
    },
  })
  let fetching = 0
  const closeWith = (reason: unknown) => {
    const isOfMessage = fetching > 0 && reason instanceof ProviderError && reason.kind === 'limit_exceeded'
    failure ??= isOfMessage ? connectionLost(reason.message, reason) : reason
    if (isProgrammingError(reason)) onFault(reason)
    imap.close()
  }
  const { lastFailure } = interceptCommands(imap, names, () => gate.forgetFolders())
  if ('password' in credentials)
    offerChallengeLogin(imap, { username: settings.username, password: credentials.password })
  else requireOAuthLogin(imap)
  // An error event without a listener would end the process. A close event always follows.
  imap.on('error', closeWith)
  return {
    imap,
    server: `${settings.host}:${settings.port}`,
    gate,
    listings,
    idle,
    folders: new FolderOpener(imap),
    listed: undefined,
    unparsedLines: () => unparsedLines,
    traffic,
    onTraffic(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    failure: () => failure,
    lastRefusal: lastFailure,
    async whileFetching(work) {
      fetching += 1
      try {
        return await work()
      } finally {
        fetching -= 1
      }
    },
    closeWith,
    onFault,
  }
}

/** Whether names of folders are UTF-8 on this connection, as imapflow decides it. */
function usesUtf8({ enabled, capabilities }: ImapFlow): boolean {
  if (enabled.has('UTF8=ACCEPT') || enabled.has('IMAP4REV2')) return true
  return capabilities.has('IMAP4rev2') && !capabilities.has('IMAP4rev1')
}

/** Capabilities, greetings and refusals are short. */
const LOGIN_LIMITS = { lines: 1000, bytes: 1024 * 1024 }

/** How many removed messages cost as much as a line. */
const EXPUNGED_PER_LINE = 50

const FIXED_OPTIONS = {
  // A zlib context per sync connection costs more memory than the account's entire state.
  disableCompression: true,
  // The session enters IDLE by itself, at once; imapflow would wait for seconds of silence.
  disableAutoIdle: true,
  qresync: true,
  clientInfo: { name: 'Posthorn', version: '0.1', vendor: 'Posthorn', 'support-url': '' },
  // imapflow's watchdog mistakes an IDLE that was never acknowledged for a quiet one and waits for ever. The session checks instead.
  socketTimeout: 60 * 60_000,
} satisfies Partial<ImapFlowOptions>
