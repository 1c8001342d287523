import { isIP } from 'node:net'
import { ImapFlow, type ImapFlowOptions } from 'imapflow'
import type { AddressGuard } from '../../infra/net/index.ts'
import { type ImapSettings, type MailAccess, ProviderError } from '../contract/index.ts'
import { providerError, timedOut } from './errors.ts'
import type { Pacing } from './pacing.ts'

/** What every connection of this provider needs. */
export interface Dialling {
  guard: AddressGuard
  pacing: Pacing
}

export interface DialOptions {
  /** Somebody waits for it: goes before standing sessions that reconnect. */
  urgent: boolean
  /** Until the login is done; begins with the attempt, or when `urgent` with the waiting for it. */
  timeoutMs: number
  signal: AbortSignal
}

/** A logged-in connection, with what imapflow only tells its logger. */
export interface ImapClient {
  imap: ImapFlow
  /** Lines of the server that could not be parsed: each may have been a message that is missing from a result. */
  unreadable(): number
  /** Called for each line of the server; undefined while nobody counts. */
  onLine: (() => void) | undefined
  /** Why the connection ended, where that is known. */
  failure(): unknown
  /** Ends the connection, for this reason. */
  giveUp(reason: unknown): void
}

/**
 * Connects and logs in. The address was checked and is pinned; the certificate must be valid for the name the user gave.
 * Throws `ProviderError`. The client's `error` events are answered for good: they must never end the process.
 */
export async function dial(access: MailAccess, { guard, pacing }: Dialling, options: DialOptions): Promise<ImapClient> {
  const imap = access.settings.imap
  const doing = 'connecting to the mail server'
  if (imap === undefined || access.secrets.password === undefined) {
    throw new ProviderError('auth_expired', `${doing}: the account has no IMAP settings or no password`)
  }
  // The crowd waits for its turn as long as it takes; a person's time runs while waiting, too.
  let limit = options.urgent ? AbortSignal.timeout(options.timeoutMs) : undefined
  const whileWaiting = limit === undefined ? options.signal : AbortSignal.any([options.signal, limit])
  try {
    return await pacing.run(imap.host, options.urgent, whileWaiting, async () => {
      limit ??= AbortSignal.timeout(options.timeoutMs)
      const signal = AbortSignal.any([options.signal, limit])
      const target = await untilAborted(guard.check(imap), signal)
      const client = newClient(imap, target.address, access.secrets.password ?? '', options.timeoutMs)
      const hangUp = () => client.imap.close()
      signal.addEventListener('abort', hangUp, { once: true })
      try {
        await client.imap.connect()
        return client
      } catch (error) {
        hangUp()
        throw error
      } finally {
        signal.removeEventListener('abort', hangUp)
      }
    })
  } catch (error) {
    if (limit?.aborted && !options.signal.aborted) throw timedOut(doing, options.timeoutMs)
    throw providerError(error, doing)
  }
}

function newClient(settings: ImapSettings, address: string, password: string, timeoutMs: number): ImapClient {
  let unreadable = 0
  let failure: unknown
  const countUnreadable = (entry: object) => {
    const unparsed = 'payloadBytes' in entry
    const unhandled = 'msg' in entry && entry.msg === 'Failed to process untagged response'
    if (unparsed || unhandled) unreadable += 1
  }
  // Told before the line is worked on, and also of what cannot be parsed.
  const heard = (entry: object) => {
    if ('src' in entry && entry.src === 's') client.onLine?.()
  }
  const imap = new ImapFlow({
    ...fixedOptions,
    host: address,
    port: settings.port,
    secure: settings.security === 'tls',
    doSTARTTLS: settings.security === 'starttls',
    auth: { user: settings.username, pass: password },
    tls: { rejectUnauthorized: !settings.allowSelfSigned },
    ...(isIP(settings.host) === 0 && { servername: settings.host }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    logger: {
      info() {},
      trace: heard,
      debug: heard,
      warn: countUnreadable,
      error(entry: object) {
        heard(entry)
        countUnreadable(entry)
      },
    },
  })
  const giveUp = (reason: unknown) => {
    failure ??= reason
    imap.close()
  }
  // Without a listener an error event would end the process; a close event always follows.
  imap.on('error', giveUp)
  const client: ImapClient = {
    imap,
    unreadable: () => unreadable,
    onLine: undefined,
    failure: () => failure,
    giveUp,
  }
  return client
}

/**
 * Runs commands and ends the connection when nothing at all is heard for `silenceMs` while they wait: found after that
 * time, or twice that at the latest. However long the work takes, it may as long as something comes.
 */
export async function whileHeard<T>(
  client: ImapClient,
  silenceMs: number,
  doing: string,
  work: Promise<T>,
): Promise<T> {
  let heard = client.imap.stats().received
  const timer = setInterval(() => {
    const now = client.imap.stats().received
    if (now === heard) client.giveUp(timedOut(doing, silenceMs))
    heard = now
  }, silenceMs)
  try {
    return await work
  } catch (error) {
    throw client.imap.usable ? error : (client.failure() ?? error)
  } finally {
    clearInterval(timer)
  }
}

const fixedOptions = {
  // A zlib context on every standing connection costs more memory than the account's whole state.
  disableCompression: true,
  // The session goes idle by itself, at once; imapflow would wait for seconds of silence first.
  disableAutoIdle: true,
  qresync: true,
  clientInfo: { name: 'Posthorn', version: '0.1', vendor: 'Posthorn', 'support-url': '' },
  // imapflow's own watchdog takes an IDLE that was never acknowledged for a quiet one and waits for ever; ours decides.
  socketTimeout: 60 * 60_000,
  // The largest thing asked for is a part of 1 MB; a hostile server must not fill the memory.
  maxLiteralSize: 64 * 1024 * 1024,
  maxLineLength: 64 * 1024 * 1024,
  maxResponseSize: 128 * 1024 * 1024,
} satisfies Partial<ImapFlowOptions>

/** The promise's outcome, or the signal's reason when that comes first. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
