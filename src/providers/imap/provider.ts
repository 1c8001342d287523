import { createSecureContext, type SecureContext } from 'node:tls'
import { LRUCache } from 'lru-cache'
import { type Log, silentLog } from '../../platform/log/index.ts'
import type { AddressGuard } from '../../platform/net/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import {
  type FolderMailProvider,
  type MailAccess,
  type Provider,
  ProviderError,
  type SentCopies,
} from '../contract/index.ts'
import { backfillWindows, imapBackfill } from './backfill.ts'
import { type Dialing, type DialOptions, dial, type ImapClient } from './connection/client.ts'
import { pacing } from './connection/pacing.ts'
import { ParserTurns } from './connection/parser-turns.ts'
import { RequestConnection } from './connection/request-connection.ts'
import { reachesSame, VerifiedConnections } from './connection/verified-connections.ts'
import { verify } from './connection/verify.ts'
import { imapDrafts } from './edit/drafts.ts'
import { imapEdits } from './edit/edits.ts'
import { imapSentCopies } from './edit/sent-copies.ts'
import { IMAP_LIMITS, type ImapLimits, workLimits } from './limits.ts'
import { imapLiveReads } from './live-reads.ts'
import type { SerialServers } from './sync/folder-polls.ts'
import { ImapSession } from './sync/session.ts'

/** Sync reads at most 128 kB of a header, and 16 kB of each text. Names of folders may come as literals, too. A response may have twice this, on a connection for every mailbox. */
const SYNC_LITERAL_BYTES = 256 * 1024

export interface ImapDeps {
  guard: AddressGuard
  clock: Clock
  log?: Log
  limits?: Partial<ImapLimits>
  /** Tests trust an authority of their own. */
  tlsContext?: () => SecureContext
  /** Concurrent logins at one host, and the random delay that spreads them. */
  pace?: { concurrent: number; jitterMs: number }
}

/** One per process: it holds the pacing per host and the request connection of each account. */
export function imapProvider({
  guard,
  clock,
  log = silentLog,
  limits: limitOverrides,
  tlsContext = sharedTlsContext(),
  pace = { concurrent: 16, jitterMs: 250 },
}: ImapDeps): Provider & { mail: FolderMailProvider; sentCopies(access: MailAccess): SentCopies } {
  const limits = { ...IMAP_LIMITS, ...limitOverrides }
  const { work, verifyWork, readWork } = workLimits(limits)
  const dialing = {
    guard,
    pacing: pacing(pace),
    turns: new ParserTurns(),
    tlsContext,
    onPlainLogin: plainLoginWarning(log),
    onFault(error: unknown) {
      const message = 'Cannot read what a mail server sent, because of an internal error.'
      log.error(message, { operation: 'imap', provider: 'imap', error })
    },
  }
  const windows = backfillWindows()
  const serial = serialServers()
  const verified = new VerifiedConnections()
  const connections = new Map<string, { connection: RequestConnection; access: MailAccess }>()
  /** The open session of each account. */
  const sessions = new Map<string, ImapSession>()
  const onOtherMessage = (accountId: string) => (path: string) => sessions.get(accountId)?.verifyAgain(path)

  function requestConnection(access: MailAccess): RequestConnection {
    const open = connections.get(access.accountId)
    if (open !== undefined && !open.connection.isClosed && reachesSame(open.access, access)) return open.connection
    open?.connection.close()
    const options = { idleMs: limits.requestIdleMs, waitMs: limits.requestWaitMs, work }
    // Forgets the password with the connection.
    const connection: RequestConnection = new RequestConnection(access, dialing, options, {
      onIdle() {
        if (connections.get(access.accountId)?.connection === connection) connections.delete(access.accountId)
      },
      shared: () => sessions.get(access.accountId),
    })
    connections.set(access.accountId, { connection, access })
    return connection
  }

  /** Closes the request connection where it is the one that the server allows. */
  async function dialAlone(access: MailAccess, options: DialOptions): Promise<ImapClient> {
    try {
      return await dial(access, dialing, options)
    } catch (error) {
      const other = connections.get(access.accountId)
      const isRefused = error instanceof ProviderError && error.kind === 'rate_limited'
      if (other === undefined || !isRefused || options.signal.aborted) throw error
      other.connection.close()
      connections.delete(access.accountId)
      return dial(access, dialing, options)
    }
  }

  return {
    name: 'imap',
    sentCopies: (access) =>
      imapSentCopies(() => requestConnection(access), { deadlineMs: limits.readMs, limits: readWork }),
    mail: {
      kind: 'folders',
      async verify(access, signal, { keepConnection = false } = {}) {
        const options = { timeoutMs: limits.verifyMs, work: verifyWork, literalBytes: SYNC_LITERAL_BYTES }
        const keep = keepConnection ? (client: ImapClient) => verified.keep(client, access) : undefined
        return verify(access, dialing, { ...options, keep }, signal)
      },
      async openSession(access, events, signal) {
        const { accountId } = access
        const options = { urgent: false, timeoutMs: limits.connectMs, literalBytes: SYNC_LITERAL_BYTES, signal }
        const client = verified.take(access) ?? (await dialAlone(access, options))
        const session: ImapSession = new ImapSession(client, {
          folder: access.settings.imap?.mailbox ?? 'INBOX',
          events,
          clock,
          limits: { ...limits, work, serial },
          onEnd() {
            if (sessions.get(accountId) === session) sessions.delete(accountId)
          },
          requestConnection: () => requestConnection(access),
        })
        sessions.set(accountId, session)
        return session
      },
      liveReads: (access) => {
        const read = { deadlineMs: limits.readMs, limits: readWork }
        const options = { clock, read, onOtherMessage: onOtherMessage(access.accountId) }
        return imapLiveReads(() => requestConnection(access), options)
      },
      backfill: (access) =>
        imapBackfill(() => requestConnection(access), {
          clock,
          windows,
          deadlineMs: limits.workMs,
          limits: work,
          accountId: access.accountId,
        }),
      edits: (access) =>
        imapEdits(
          () => requestConnection(access),
          { deadlineMs: limits.readMs, limits: readWork },
          onOtherMessage(access.accountId),
        ),
      drafts(access, folderPath) {
        const read = { deadlineMs: limits.readMs, limits: readWork }
        const live = imapLiveReads(() => requestConnection(access), { clock, read, onOtherMessage: () => {} })
        return imapDrafts(() => requestConnection(access), { folderPath, live, clock, work: read })
      },
      async closeConnections(accountId) {
        if (accountId === undefined) verified.close()
        for (const [id, { connection }] of [...connections]) {
          if (accountId !== undefined && id !== accountId) continue
          connection.close()
          connections.delete(id)
        }
      },
    },
  }
}

/** Made at the first use, because it reads the root certificates. */
function sharedTlsContext(): () => SecureContext {
  let context: SecureContext | undefined
  return () => {
    context ??= createSecureContext()
    return context
  }
}

const MAX_SERVERS = 1000

function serialServers(): SerialServers {
  const serial = new LRUCache<string, true>({ max: MAX_SERVERS })
  return {
    includes: ({ server }) => serial.has(server),
    add: ({ server }) => void serial.set(server, true),
  }
}

/** Warns once per server, not once per connection. */
function plainLoginWarning(log: Log): Dialing['onPlainLogin'] {
  const warned = new LRUCache<string, true>({ max: MAX_SERVERS })
  return (host, port) => {
    const server = `${host}:${port}`
    if (warned.get(server)) return
    warned.set(server, true)
    log.warn(
      `Logged in at ${server} without encryption: the server does not offer STARTTLS. The account allows plain text, and so does PRIVATE_TARGETS.`,
      { operation: 'imap.connect', provider: 'imap' },
    )
  }
}
