import { expect } from 'vitest'
import type { Place } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { api } from '../kit/http/http.ts'
import { startService } from '../kit/service/service.ts'
import type { Call } from '../servers/fake/calls.ts'
import { googleLimits } from '../servers/google/limits.ts'
import { startGoogle } from '../servers/google.ts'
import { plainMail } from '../servers/messages.ts'
import { GRAPH_LIMITS } from '../servers/microsoft/limits.ts'
import { startMicrosoft } from '../servers/microsoft.ts'

const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const DOMAIN = 'acme.example'
const AT_ONCE = 20
/** A busy machine needs a second for each mailbox. */
const CONNECTED_MS = 1_200_000
const GMAIL_UNITS_PER_MINUTE = 6000

/** A tenant at the fake of its provider, which enforces the published limits. */
export interface StartingTenant {
  environment: Record<string, string>
  /** The body of `POST /connections`. */
  connection: object
  /** Makes a user with one message. */
  addUser(email: string): Promise<void>
  deliver(email: string, subject: string): Promise<void>
  expireTokens(): void
  /** How long a request for a token takes. */
  readonly pace: { latencyMs: number }
  /** The users for whom tokens are being requested. At Microsoft one token is for all. */
  requesting(): readonly string[]
  /** The most requests at a time for one token. */
  peakTokenRequests(): number
  calls(): readonly Call[]
  /** The users whose first sync of calendars has begun. */
  haveReadCalendars(): ReadonlySet<string | null>
  tokenRequests(): number
  /** How many tokens the mailboxes need, beside the one that checks the credentials. */
  tokensFor(mailboxes: number): number
  /** The names of limits that were exceeded. */
  exceeded(): readonly string[]
  close(): Promise<void>
}

export async function startingMicrosoft(): Promise<StartingTenant> {
  const microsoft = await startMicrosoft()
  microsoft.latencyMs = 0
  microsoft.applications.consent(TENANT)
  microsoft.limits.enforce(GRAPH_LIMITS)
  const { MICROSOFT_LOGIN_URL = '', MICROSOFT_GRAPH_URL = '' } = microsoft.settings
  const users: string[] = []
  return {
    environment: { MICROSOFT_LOGIN_URL, MICROSOFT_GRAPH_URL },
    connection: {
      provider: 'microsoft',
      kind: 'tenant',
      name: 'Acme',
      tenantId: TENANT,
      clientId: microsoft.client.id,
      clientSecret: 'tenant-secret',
    },
    async addUser(email) {
      users.push(email)
      microsoft.addUser(email, { tenant: TENANT })
      await microsoft.deliver(email, plainMail({ subject: `For ${email}` }))
    },
    async deliver(email, subject) {
      await microsoft.deliver(email, plainMail({ subject }))
    },
    expireTokens: () => microsoft.expireAccessTokens(),
    pace: microsoft.applications.pace,
    requesting: () => (microsoft.applications.runningTokenRequests > 0 ? users : []),
    peakTokenRequests: () => microsoft.applications.peakTokenRequests,
    calls: () => microsoft.calls.all,
    haveReadCalendars: () => usersOf(microsoft.calls.all, /\/calendarView\/delta$/),
    tokenRequests: () => microsoft.applications.tokenRequests,
    tokensFor: () => 1,
    exceeded: () => [
      ...microsoft.limits.refused,
      ...users.filter((user) => microsoft.peakConcurrency(user) > 4).map((user) => `concurrency of ${user}`),
    ],
    close: () => microsoft.close(),
  }
}

export async function startingGoogle(): Promise<StartingTenant> {
  const google = await startGoogle()
  google.delegation.authorise(DOMAIN)
  google.limits.enforce(googleLimits((endpoint) => google.quota.findCost(endpoint)))
  google.quota.limit({ unitsPerMinute: GMAIL_UNITS_PER_MINUTE })
  const { GOOGLE_TOKEN_URL = '', GOOGLE_API_URL = '' } = google.settings
  return {
    environment: { GOOGLE_TOKEN_URL, GOOGLE_API_URL },
    connection: {
      provider: 'gmail',
      kind: 'tenant',
      name: 'Acme',
      serviceAccountKey: google.delegation.keyFile(),
    },
    async addUser(email) {
      google.addUser(email)
      google.deliver(email, plainMail({ subject: `For ${email}` }))
    },
    async deliver(email, subject) {
      google.deliver(email, plainMail({ subject }))
    },
    expireTokens: () => google.expireAccessTokens(),
    pace: google.delegation.pace,
    requesting: google.delegation.requesting,
    peakTokenRequests: () => google.delegation.peakTokenRequests,
    calls: () => google.calls.all,
    haveReadCalendars: () => usersOf(google.calls.all, / \/calendar\/.*\/events$/),
    tokenRequests: () => google.delegation.tokenRequests,
    tokensFor: (mailboxes) => mailboxes,
    exceeded: () => google.limits.refused,
    close: () => google.close(),
  }
}

function usersOf(calls: readonly Call[], endpoints: RegExp): ReadonlySet<string | null> {
  return new Set(calls.filter(({ endpoint }) => endpoints.test(endpoint)).map(({ user }) => user))
}

/** Connects so many mailboxes of a tenant as fast as requests allow, and waits until all of them are synced. */
export async function runTenantStart(
  place: Place,
  open: () => Promise<StartingTenant>,
  mailboxes: number,
): Promise<void> {
  const tenant = await open()
  const users = Array.from({ length: mailboxes }, (_, index) => `user-${index}@${DOMAIN}`)
  for (const user of users) await tenant.addUser(user)
  const service = await startService({ place, environment: tenant.environment })
  try {
    const client = api(service.url, service.key)
    const { id: connectionId } = (await client.post('/connections', tenant.connection)).json
    for (let from = 0; from < users.length; from += AT_ONCE) {
      const some = users.slice(from, from + AT_ONCE)
      const created = await Promise.all(some.map((email) => client.post('/accounts', { connectionId, email })))
      expect(new Set(created.map(({ status }) => status))).toEqual(new Set([200]))
    }
    await eventually(
      async () =>
        expect((await client.get('/accounts?status=connected&limit=1')).json.pagination.total).toBe(mailboxes),
      CONNECTED_MS,
    )
    await eventually(() => tenant.haveReadCalendars().size === mailboxes)
    const refused = tenant.calls().filter(({ status = 200 }) => [401, 403, 429, 503].includes(status))
    expect([refused.filter(({ user }) => user !== null), tenant.exceeded()]).toEqual([[], []])
    expect(tenant.tokenRequests()).toBe(1 + tenant.tokensFor(mailboxes))
    expect((await client.get(`/connections/${connectionId}`)).json.accountCount).toBe(mailboxes)
  } finally {
    await service.stop()
    await tenant.close()
  }
}
