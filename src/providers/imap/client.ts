import { isIP } from 'node:net'
import { ImapFlow, type ImapFlowOptions } from 'imapflow'
import type { AddressGuard } from '../../infra/net/index.ts'
import { untilAborted } from '../../lib/abort.ts'
import { type ImapSettings, type MailAccess, ProviderError } from '../contract/index.ts'
import { providerError, timeoutError } from './errors.ts'
import type { Pacing } from './pacing.ts'

/** What every connection of this provider needs. */
export interface Dialing {
  guard: AddressGuard
  pacing: Pacing
  /** Called after each login without encryption. */
  onPlainLogin(host: string, port: number): void
}

export interface DialOptions {
  /** A caller waits for it: it goes before sync connections that reconnect. */
  urgent: boolean
  /** Until the login is done. For `urgent` it includes the wait for a slot at the host. */
  timeoutMs: number
  signal: AbortSignal
}

/** A logged-in connection, with facts that imapflow gives only to its logger. */
export interface ImapClient {
  imap: ImapFlow
  /** How many lines of the server could not be parsed. Each may have been a message that is missing from a result. */
  unparsedLines(): number
  /** Called for each line that the server sends, and for each command. */
  onLine: (() => void) | undefined
  /** Why the connection ended, if known. */
  failure(): unknown
  /** Closes the connection for this reason. */
  closeWith(reason: unknown): void
}

/**
 * Connects and logs in, to the address that the guard has checked, with a certificate valid for the host name in the settings. Throws
 * `ProviderError`. The client handles imapflow's `error` events, which would otherwise end the process.
 */
export async function dial(
  access: MailAccess,
  { guard, pacing, onPlainLogin }: Dialing,
  options: DialOptions,
): Promise<ImapClient> {
  const imap = access.settings.imap
  const doing = 'connecting to the mail server'
  if (imap === undefined || access.secrets.password === undefined) {
    throw new ProviderError('auth_expired', `${doing}: the account has no IMAP settings or no password`)
  }
  let limit = options.urgent ? AbortSignal.timeout(options.timeoutMs) : undefined
  const whileWaiting = limit === undefined ? options.signal : AbortSignal.any([options.signal, limit])
  try {
    return await pacing.run(imap.host, options.urgent, whileWaiting, async () => {
      limit ??= AbortSignal.timeout(options.timeoutMs)
      const signal = AbortSignal.any([options.signal, limit])
      const target = await untilAborted(guard.check(imap), signal)
      const mayBePlain = imap.allowPlain === true && guard.allowsPlain(target)
      const client = newClient(imap, {
        ...{ address: target.address, mayBePlain, password: access.secrets.password ?? '' },
        timeoutMs: options.timeoutMs,
      })
      const hangUp = () => client.imap.close()
      signal.addEventListener('abort', hangUp, { once: true })
      try {
        await client.imap.connect()
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
    if (limit?.aborted && !options.signal.aborted) throw timeoutError(doing, options.timeoutMs)
    throw providerError(error, doing)
  }
}

interface Connecting {
  address: string
  password: string
  /** Logs in without encryption when the server does not offer STARTTLS. */
  mayBePlain: boolean
  timeoutMs: number
}

function newClient(settings: ImapSettings, { address, password, mayBePlain, timeoutMs }: Connecting): ImapClient {
  let unparsedLines = 0
  let failure: unknown
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
    error(entry: object) {
      if ('src' in entry && entry.src === 's') client.onLine?.()
      countUnparsed(entry)
    },
    // Asked for every command and every line of the server that imapflow has parsed. The log would need a copy of it.
    isLevelEnabled() {
      client.onLine?.()
      return false
    },
  }
  const imap = new ImapFlow({
    ...FIXED_OPTIONS,
    host: address,
    port: settings.port,
    secure: settings.security === 'tls',
    // Undefined: STARTTLS where the server offers it, else plain text.
    doSTARTTLS: settings.security === 'starttls' ? (mayBePlain ? undefined : true) : false,
    auth: { user: settings.username, pass: password },
    tls: { rejectUnauthorized: !settings.allowSelfSigned },
    ...(isIP(settings.host) === 0 && { servername: settings.host }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    logger,
  })
  const closeWith = (reason: unknown) => {
    failure ??= reason
    imap.close()
  }
  // An error event without a listener would end the process. A close event always follows.
  imap.on('error', closeWith)
  const client: ImapClient = {
    imap,
    unparsedLines: () => unparsedLines,
    onLine: undefined,
    failure: () => failure,
    closeWith,
  }
  return client
}

/**
 * Runs commands, and closes the connection when the server sends nothing for `silenceMs` (twice that at the latest) while they wait. The
 * work may take any time as long as data arrives.
 */
export async function closeOnSilence<T>(
  client: ImapClient,
  silenceMs: number,
  doing: string,
  work: Promise<T>,
): Promise<T> {
  let received = client.imap.stats().received
  const timer = setInterval(() => {
    const now = client.imap.stats().received
    if (now === received) client.closeWith(timeoutError(doing, silenceMs))
    received = now
  }, silenceMs)
  try {
    return await work
  } catch (error) {
    throw client.imap.usable ? error : (client.failure() ?? error)
  } finally {
    clearInterval(timer)
  }
}

const FIXED_OPTIONS = {
  // A zlib context per sync connection costs more memory than the account's entire state.
  disableCompression: true,
  // The session enters IDLE by itself, at once; imapflow would wait for seconds of silence.
  disableAutoIdle: true,
  qresync: true,
  clientInfo: { name: 'Posthorn', version: '0.1', vendor: 'Posthorn', 'support-url': '' },
  // imapflow's watchdog mistakes an IDLE that was never acknowledged for a quiet one and waits for ever. The session checks instead.
  socketTimeout: 60 * 60_000,
  // The largest request is for 1 MB of a part; these limits keep a hostile server from filling the memory.
  maxLiteralSize: 64 * 1024 * 1024,
  maxLineLength: 64 * 1024 * 1024,
  maxResponseSize: 128 * 1024 * 1024,
} satisfies Partial<ImapFlowOptions>
