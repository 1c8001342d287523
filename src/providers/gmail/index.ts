/**
 * Gmail over its REST API: sync by one history per mailbox, live reads, push over Cloud Pub/Sub, and sign-in with Google; beside it
 * Google Calendar and Google contacts, in the folders `calendar` and `contacts`.
 * Failures leave this folder as `ProviderError` only. Knows no database and no routes.
 */
import { withTimeout } from '../../platform/concurrency/abort.ts'
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
  type SendProvider,
  type TenantProvider,
} from '../contract/index.ts'
import { type RestClientOptions, restClient } from '../shared/rest/index.ts'
import { gmailBackfill } from './backfill.ts'
import {
  PROJECT_REQUESTS as CALENDAR_PROJECT_REQUESTS,
  RATE_LIMIT as CALENDAR_RATE_LIMIT,
  calendarError,
  googleCalendars,
} from './calendar/index.ts'
import { readProfile } from './client.ts'
import { CHANGE_LIMIT, RATE_LIMIT as CONTACTS_RATE_LIMIT, googleContacts, peopleError } from './contacts/index.ts'
import { gmailDrafts } from './drafts.ts'
import { gmailEdits } from './edits.ts'
import { gmailError, quotaRefusal } from './errors.ts'
import { listLabels } from './folders.ts'
import { gmailLiveReads } from './live-reads.ts'
import { type GmailLoginOptions, namedScopes } from './login.ts'
import { gmailPush } from './push.ts'
import { PROJECT_UNITS as GMAIL_PROJECT_UNITS, type GmailQuota, gmailClient, gmailRateLimit } from './quota.ts'
import { gmailSending } from './sending.ts'
import { GmailSession } from './sync/session.ts'
import { DIRECTORY_RATE_LIMIT, directoryError, directoryRoot, googleTenant } from './tenant.ts'

export { type GmailLoginOptions, gmailLogin } from './login.ts'

export interface GmailDeps {
  /** `GOOGLE_API_URL`: root of gmail/v1, calendar/v3 and batch. */
  apiUrl: string
  /** `GOOGLE_PEOPLE_URL`: root of v1/people. By default `apiUrl`. */
  peopleUrl?: string
  /** For photos of contacts, which are at other hosts. */
  outbound?: Outbound
  login?: LoginProvider
  /** For service accounts. Default: the token endpoint of Google, and all scopes. */
  tenant?: Pick<GmailLoginOptions, 'scopes' | 'withContacts'> & { tokenUrl: string }
  clock: Clock
  /** The quota of the Google project; by default that of a new one. */
  quota?: GmailQuota
  /** Called with the quota units of each request to Gmail. */
  onUnits?(units: number): void
  /** For tests: smaller steps and other limits of the client. */
  limits?: {
    stepMessages?: number
    rangeEvents?: number
    rest?: RestClientOptions['limits']
    unitsPerMinute?: number
    /** Units of the quota in a second. */
    burst?: number
    /** Requests to Google Calendar of one project in a minute. */
    calendarProjectRequests?: number
  }
}

const TOKEN_URL = 'https://oauth2.googleapis.com/token'
const STEP_MESSAGES = 500
const VERIFY_MS = 10_000

/** One per process: it holds the connections and the rate limit of each mailbox. */
export function gmailProvider(deps: GmailDeps): Provider & {
  mail: IdMailProvider
  push: PushProvider
  sending: SendProvider
  calendar: Required<CalendarProvider>
  tenant: TenantProvider<'gmail'>
  contacts: ContactsProvider
} {
  const {
    apiUrl,
    peopleUrl = apiUrl,
    outbound,
    login,
    tenant = { tokenUrl: TOKEN_URL },
    clock,
    quota = { set: 'since-2026-05' },
    onUnits,
    limits = {},
  } = deps
  const { unitsPerMinute = quota.unitsPerMinute, burst } = limits
  const rest = restClient({
    root: apiUrl,
    clock,
    toError: gmailError,
    toRefusal: quotaRefusal,
    limits: limits.rest ?? {},
    projects: { unitsPerMinute: GMAIL_PROJECT_UNITS, nameOf: projectName },
    rateLimit: gmailRateLimit({ ...quota, ...(unitsPerMinute !== undefined && { unitsPerMinute }) }, burst),
    ...(onUnits !== undefined && { onUnits }),
  })
  const client = gmailClient(rest, quota)
  // Calendars have a quota of their own.
  const calendars = restClient({
    root: apiUrl,
    clock,
    toError: calendarError,
    toRefusal: quotaRefusal,
    limits: limits.rest ?? {},
    rateLimit: CALENDAR_RATE_LIMIT,
    projects: { unitsPerMinute: limits.calendarProjectRequests ?? CALENDAR_PROJECT_REQUESTS, nameOf: projectName },
  })
  const directory = restClient({
    root: directoryRoot(apiUrl),
    clock,
    toError: directoryError,
    toRefusal: quotaRefusal,
    limits: limits.rest ?? {},
    rateLimit: DIRECTORY_RATE_LIMIT,
  })
  const people = {
    root: peopleUrl,
    clock,
    toError: peopleError,
    toRefusal: quotaRefusal,
    limits: limits.rest ?? {},
  }
  const reading = restClient({ ...people, rateLimit: CONTACTS_RATE_LIMIT })
  const changing = restClient({ ...people, rateLimit: CHANGE_LIMIT })
  const clients = [rest, calendars, directory, reading, changing]
  return {
    name: 'gmail',
    ...(login && { login }),
    tenant: googleTenant({
      tokenUrl: tenant.tokenUrl,
      scopes: namedScopes(tenant),
      clock,
      openDirectory({ connectionId, accessToken }) {
        const access = { accountId: connectionId, email: '', settings: {}, secrets: {}, accessToken }
        return directory.mailbox(access, { urgent: true })
      },
    }),
    push: gmailPush(client),
    sending: gmailSending(client),
    calendar: googleCalendars(calendars, clock, limits.rangeEvents),
    contacts: googleContacts({ peopleUrl, reading, changing, outbound, clock }),
    mail: {
      kind: 'mailbox',
      async verify(access, signal) {
        const mailbox = client.mailbox(access, { urgent: true })
        const requests = Promise.all([listLabels(mailbox, signal), readProfile(mailbox, signal)])
        const [folders] = await withTimeout(requests, VERIFY_MS, timeoutError)
        return { folders }
      },
      openSession: (access) => new GmailSession(client.mailbox(access), clock, limits.stepMessages ?? STEP_MESSAGES),
      liveReads: (access) => gmailLiveReads(client.mailbox(access, { urgent: true }), clock),
      backfill: (access) => gmailBackfill(client.mailbox(access, { background: true }), clock),
      edits: (access) => gmailEdits(client.mailbox(access, { urgent: true }), clock),
      drafts: (access) => {
        const mailbox = client.mailbox(access, { urgent: true })
        return gmailDrafts(mailbox, gmailLiveReads(mailbox, clock), clock)
      },
      endPause(accountId) {
        for (const one of clients) one.endPause(accountId)
      },
      async closeConnections(accountId) {
        await Promise.all(clients.map((one) => one.close(accountId)))
      },
    },
  }
}

/** The project of a service account; else that of the OAuth client, which all users of Posthorn share. */
function projectName({ settings }: MailAccess): string {
  return settings.google?.project ?? ''
}

function timeoutError(): ProviderError {
  return new ProviderError('unavailable', 'checking the mailbox: timed out', { timedOut: true })
}
