/**
 * Outlook and Microsoft 365 over Graph v1.0: sync by one delta query per folder, live reads, changes, drafts, sending, push
 * subscriptions, calendars, contacts, and sign-in with Microsoft. Every id is an immutable one. Failures leave this folder as `ProviderError` only.
 * Knows no database and no routes.
 */

import { withTimeout } from '../../platform/concurrency/abort.ts'
import type { Backoff } from '../../platform/concurrency/retry.ts'
import type { Outbound } from '../../platform/outbound/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import {
  type CalendarProvider,
  type ContactsProvider,
  type IdMailProvider,
  type LoginProvider,
  type MailAccess,
  type Provider,
  ProviderError,
  type PushProvider,
  type RemoteFolder,
  type SendProvider,
  type TenantProvider,
} from '../contract/index.ts'
import { object, restClient, type SharedLimit } from '../shared/rest/index.ts'
import { microsoftBackfill } from './backfill.ts'
import { microsoftCalendars } from './calendar/index.ts'
import { Graph } from './client.ts'
import { microsoftContacts } from './contacts/index.ts'
import { microsoftDrafts } from './drafts.ts'
import { microsoftEdits } from './edits.ts'
import { graphError, mailboxOpener } from './errors.ts'
import { FolderList } from './folders.ts'
import { microsoftLiveReads } from './live-reads.ts'
import { RATE_LIMIT } from './polling.ts'
import { microsoftPush } from './push.ts'
import { attacher } from './sending/attachments.ts'
import { microsoftSending } from './sending/index.ts'
import { SubscriptionChanges } from './subscription-changes.ts'
import { MicrosoftSession } from './sync/session.ts'
import { microsoftTenant } from './tenant.ts'

export { type MicrosoftLoginOptions, microsoftLogin } from './login.ts'

export interface MicrosoftDeps {
  /** Root of `/v1.0`. National clouds have their own. */
  graphUrl: string
  /** Root of `/{tenant}/oauth2/v2.0`, for the tokens of applications. */
  loginUrl: string
  login?: LoginProvider
  clock: Clock
  /** For uploads, which go to Outlook's own hosts. */
  outbound: Outbound
  verifyMs?: number
  /** For tests: how many events a read of a time range may return. */
  rangeEvents?: number
  /** For tests: the pauses before a request is sent again. */
  retry?: Backoff
  /** For tests: how many subscriptions are created and renewed in which time. */
  subscriptions?: SharedLimit
}

/** Users without a licence for Exchange sign in all the same: Graph accepts their token, and Exchange refuses it or finds nothing. */
function throwNoMailbox(error: unknown): never {
  if (!(error instanceof ProviderError) || !['auth_expired', 'not_found'].includes(error.kind)) throw error
  const why = 'the user has no mailbox that Graph can reach (perhaps no licence for Exchange Online)'
  throw new ProviderError('rejected', `checking the mailbox: ${why}`, { cause: error })
}

/** One per process: it holds the connections and the rate limit of each mailbox. */
export function microsoftProvider(deps: MicrosoftDeps): Provider & {
  mail: IdMailProvider
  push: PushProvider
  sending: SendProvider
  calendar: Required<CalendarProvider>
  tenant: TenantProvider<'microsoft'>
  contacts: ContactsProvider
} {
  const { graphUrl, loginUrl, login, clock, outbound, verifyMs = 10_000, rangeEvents, retry, subscriptions } = deps
  const root = `${graphUrl.replace(/\/+$/, '')}/v1.0`
  const client = restClient({
    root,
    clock,
    rateLimit: RATE_LIMIT,
    toError: (response, doing, nowMs, request) =>
      graphError(response, doing, nowMs, { ...request, opener: mailboxOpener(request) }),
    limits: retry ? { retry } : {},
  })
  const graph = (access: MailAccess, urgent: boolean) => new Graph({ root, client, clock }, access, { urgent })
  const changes = new SubscriptionChanges(clock, subscriptions)
  // Not urgent: Graph calls our notification address before it responds, which may take longer than an urgent request may.
  const push = (items: 'messages' | 'events') =>
    microsoftPush({ openGraph: (access) => graph(access, false), clock, items, changes })

  async function verify(access: MailAccess, signal: AbortSignal): Promise<{ folders: RemoteFolder[] }> {
    const giveUp = new AbortController()
    const onAbort = () => giveUp.abort(signal.reason)
    signal.throwIfAborted()
    signal.addEventListener('abort', onAbort, { once: true })
    const { accessToken } = access
    let tokenFailure: unknown
    const withToken = accessToken && {
      accessToken: (refused?: string) =>
        accessToken(refused).catch((error: unknown) => {
          tokenFailure = error
          throw error
        }),
    }
    const urgent = graph({ ...access, ...withToken }, true)
    const doing = 'checking the mailbox'
    /** A token that is not renewed says nothing about the mailbox. */
    const explain = (error: unknown): never => {
      if (error === tokenFailure) throw error
      return throwNoMailbox(error)
    }
    const requests = async () => {
      const request = { query: { $select: 'id' }, doing, signal: giveUp.signal }
      // The token of an application has no user, and one's own profile says nothing about another's mailbox.
      if (access.settings.graph === undefined) await urgent.get('/me', request, object)
      await urgent.get('/me/mailFolders/inbox', request, object).catch(explain)
      return { folders: await new FolderList(urgent).list(giveUp.signal) }
    }
    const timeoutError = () => new ProviderError('unavailable', `${doing}: timed out`, { timedOut: true })
    try {
      return await withTimeout(requests(), verifyMs, timeoutError)
    } finally {
      signal.removeEventListener('abort', onAbort)
      giveUp.abort(timeoutError())
    }
  }

  return {
    name: 'microsoft',
    ...(login && { login }),
    mail: {
      kind: 'mailbox',
      verify,
      openSession: (access) => new MicrosoftSession(graph(access, false), clock),
      liveReads: (access) => microsoftLiveReads(graph(access, true), clock),
      backfill: (access) => microsoftBackfill(new Graph({ root, client, clock }, access, { background: true }), clock),
      edits: (access) => microsoftEdits(graph(access, true)),
      drafts(access, folderPath) {
        const urgent = graph(access, true)
        const attach = attacher(urgent, outbound, access.accountId)
        return microsoftDrafts(urgent, folderPath, { clock, attach })
      },
      endPause: client.endPause,
      closeConnections(accountId) {
        if (accountId === undefined) changes.close()
        return client.close(accountId)
      },
    },
    sending: microsoftSending((access) => graph(access, false), outbound),
    calendar: microsoftCalendars({ openGraph: graph, clock, push: push('events'), maxEvents: rangeEvents }),
    contacts: microsoftContacts(graph, clock),
    push: push('messages'),
    tenant: microsoftTenant({
      loginUrl,
      graphUrl,
      clock,
      openGraph({ connectionId, accessToken }) {
        const access = { accountId: connectionId, email: '', settings: {}, secrets: {}, accessToken }
        return graph(access, true)
      },
    }),
  }
}
