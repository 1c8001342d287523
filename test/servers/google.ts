import { Calls } from './fake/calls.ts'
import { Faults, type PlannedFault } from './fake/faults.ts'
import { grantWithoutBrowser } from './fake/grant.ts'
import { type FakeRequest, type FakeResponse, startHttpServer } from './fake/http-server.ts'
import { Limits } from './fake/limits.ts'
import { router } from './fake/router.ts'
import { Tokens } from './fake/tokens.ts'
import { handleBatch } from './google/batch.ts'
import { type GoogleCalendars, googleCalendar } from './google/calendar.ts'
import { delegation } from './google/delegation.ts'
import { directoryRoutes } from './google/directory.ts'
import { draftRoutes } from './google/drafts.ts'
import { client, openEmulator } from './google/emulator.ts'
import { badRequest, googleFault, missingScope, notFound, unauthenticated } from './google/errors.ts'
import { partial } from './google/fields.ts'
import { gmail } from './google/gmail.ts'
import { limitExceeded } from './google/limits.ts'
import { googleOauth } from './google/oauth.ts'
import { type GooglePeople, googlePeople } from './google/people.ts'
import { type Pubsub, pubsub } from './google/pubsub.ts'
import { Quota } from './google/quota.ts'
import { type GmailSubmission, type SendAs, sendRoutes } from './google/sending.ts'
import { uploadRoutes } from './google/uploads.ts'
import { type Watch, watch } from './google/watch.ts'

const AUTH = 'https://www.googleapis.com/auth/'
export const GOOGLE_SCOPES = ['openid', 'email', 'https://mail.google.com/']
export const CALENDAR_SCOPES = [`${AUTH}calendar.readonly`, `${AUTH}calendar.events`]
export const CONTACTS_SCOPES = [`${AUTH}contacts`]

export interface DeliverOptions {
  /** Default INBOX and UNREAD. Creates a missing user label with this name as its id. */
  labels?: string[]
  /** Time of arrival; default now. */
  date?: Date
  /** Default: the thread that `In-Reply-To` and `References` name, else a new thread. */
  threadId?: string
  /** Default: 16 hexadecimal digits, as Gmail's ids. */
  id?: string
}

/**
 * A fake of Google for tests: sign-in, Gmail, Calendar, People and Cloud Pub/Sub over real HTTP on loopback. Methods take effect at once.
 * A user is identified by email address.
 */
export interface Google {
  url: string
  client: { id: string; secret: string }
  /** Environment variables that point the service at the fake, for sign-in and mail. */
  settings: Record<string, string>
  /** `settings` plus push notifications over Pub/Sub. */
  pushSettings: Record<string, string>
  /** Registers redirect URIs of the client. They are compared without the query. */
  allowRedirect(...uris: string[]): void

  addUser(email: string, name?: string): void
  /** Returns the message id. */
  deliver(user: string, raw: string | Buffer, options?: DeliverOptions): string
  relabel(user: string, id: string, change: { add?: string[]; remove?: string[] }): Promise<void>
  markRead(user: string, id: string, read: boolean): Promise<void>
  star(user: string, id: string, starred: boolean): Promise<void>
  trash(user: string, id: string): Promise<void>
  /** Deletes permanently. */
  delete(user: string, id: string): Promise<void>
  /** Returns the label id. */
  createLabel(user: string, name: string): Promise<string>
  deleteLabel(user: string, id: string): Promise<void>
  /** The messages in the mailbox, newest last. */
  messages(user: string): { id: string; threadId: string; labels: string[]; subject: string }[]
  /** The addresses under "Send mail as" of each user, beside the primary one. */
  readonly aliases: Map<string, readonly SendAs[]>
  historyId(user: string): string
  /** Makes the history API return 404 for every historyId issued so far. */
  expireHistory(user: string): void

  /** Consents without a browser, and returns the tokens. */
  grant(user: string, scopes?: string[]): Promise<{ accessToken: string; refreshToken: string }>
  /** Makes the consent page end in `access_denied` when this user is chosen. */
  denyConsent(user: string, denied?: boolean): void
  /** Scopes that this user does not grant from now on. */
  withholdScopes(user: string, scopes: string[]): void
  /** Makes each refresh of this user return tokens of another user; null ends that. */
  misissueTokens(user: string, other: string | null): void
  /** Lifetime of new access tokens in seconds; default 3600. */
  accessTokenLifetime: number
  /** Invalidates access tokens; refresh tokens stay valid. */
  expireAccessTokens(user?: string): void
  /** Revokes the user's consent: invalidates every token, and refreshing returns `invalid_grant`. */
  revokeGrants(user: string): void
  /** A refresh token that another client received. */
  foreignToken(): string
  /** How often a refresh token of this user was presented. */
  refreshes(user: string): number

  calendars: GoogleCalendars
  people: GooglePeople
  /** Every message that `messages.send` accepted. */
  readonly sent: readonly GmailSubmission[]
  /** Awaited between the acceptance of a message and the reply. */
  onSent(): Promise<void>
  fail(fault: PlannedFault): void
  faults: Faults
  /** Recorded requests; `calls.counts({ user })` counts them by method and path pattern. */
  calls: Calls
  /** The Gmail quota per user. Without limits until a test sets them. */
  quota: Quota
  /** The limits of the project, and those of other APIs. None until a test enforces them. */
  limits: Limits
  /** Domain-wide delegation to a service account. */
  delegation: Pick<
    ReturnType<typeof delegation>,
    'addresses' | 'authorise' | 'keyFile' | 'pace' | 'peakTokenRequests' | 'requesting' | 'tokenRequests'
  >
  pubsub: Pubsub
  watch: Pick<Watch, 'expire' | 'watched'>
  close(): Promise<void>
}

/** A part of a batch makes the entire batch fail. */
class BatchFault extends Error {
  readonly fault: PlannedFault
  constructor(fault: PlannedFault) {
    super('the batch fails as a whole')
    this.fault = fault
  }
}

export async function startGoogle(options: { port?: number; now?: () => number } = {}): Promise<Google> {
  const tokens = new Tokens()
  const faults = new Faults()
  const calls = new Calls()
  const quota = new Quota(options.now)
  const limits = new Limits(options.now)
  const front = await startHttpServer((request) => handle(request, false), options.port)
  const { url } = front
  const emulator = openEmulator(url)
  const topic = pubsub(url, tokens)
  const watches = watch(() => mail, topic)
  const mail = gmail(emulator, watches.changed)
  const delegated = delegation(url, tokens, (email) => emulator.users().some((user) => user.email === email))
  const oauth = googleOauth(
    emulator,
    tokens,
    async (assertion) => (await delegated.exchange(assertion)) ?? topic.exchange(assertion),
  )
  const directory = directoryRoutes({
    workspace: () => delegated.workspace,
    users: () => emulator.users(),
    addressOf: (user) => delegated.addresses.of(user),
    findGrant: ({ headers }) => tokens.find(Tokens.readBearer(headers) ?? ''),
  })
  const drafts = draftRoutes({
    emulator,
    put: (user, raw, options) => google.deliver(user, raw, options),
    drop: (user, id) => google.delete(user, id),
  })
  const sent: GmailSubmission[] = []
  const sends = sendRoutes({
    emulator,
    sent,
    onSent: () => google.onSent(),
    aliasesOf: (user) => google.aliases.get(user) ?? [],
    put: (user, raw, options) => google.deliver(user, raw, options),
  })
  const { calendars, routes: calendarRoutes } = googleCalendar()
  const { people, routes: peopleRoutes } = googlePeople(() => url)
  const find = router([
    ...oauth.routes,
    ...watches.routes,
    ...mail.routes,
    ...drafts.routes,
    ...sends.routes,
    ...topic.routes,
    ...uploadRoutes(url, [sends.upload, ...drafts.uploads]),
    ...calendarRoutes,
    ...directory,
    ...peopleRoutes,
  ])

  async function handle(request: FakeRequest, part: boolean): Promise<FakeResponse> {
    const { method, url: at } = request
    const grant = tokens.find(Tokens.readBearer(request.headers) ?? '')
    const user = grant?.user ?? oauth.findUser(request)
    const batch = !part && method === 'POST' && at.pathname.startsWith('/batch')
    const match = find(method, at.pathname)
    const endpoint = `${method} ${match?.route.pattern ?? at.pathname}`
    const call: Calls['all'][number] = { user, endpoint, path: at.pathname + at.search, part }
    calls.all.push(call)
    const result = await respond()
    if (typeof result !== 'string') call.status = result.status
    return result

    async function batchUnlessBroken(
      send: (handlePart: (inside: FakeRequest) => Promise<FakeResponse>) => Promise<FakeResponse>,
    ): Promise<FakeResponse> {
      try {
        return await send((inside) => handle(inside, true))
      } catch (error) {
        if (!(error instanceof BatchFault)) throw error
        const failed = async () => googleFault(error.fault)
        return error.fault.entireBatch === 'response' ? failed() : send(failed)
      }
    }

    async function respond(): Promise<FakeResponse> {
      const fault = faults.take({ user, method, url: at, part })
      if (part && fault?.entireBatch) throw new BatchFault(fault)
      if (fault && !fault.executes) return googleFault(fault)
      if (batch) return batchUnlessBroken((handlePart) => handleBatch(request, handlePart))
      if (!match) return notFound()
      if (match.route.signedIn !== false) {
        if (!grant) return unauthenticated()
        if (!mayCall(method, at.pathname, grant.scopes)) return missingScope()
      }
      const exceeded = limits.spend({ user, endpoint, bytes: request.body.length })
      if (exceeded !== undefined) return limitExceeded(exceeded)
      const run = async () => {
        const response = await match.route.handle({ ...request, user, params: match.params, part })
        return fault ? googleFault(fault) : response
      }
      if (!isGmail(at.pathname)) return run()
      return selected(await quota.run(user ?? '', endpoint, run), at.searchParams.get('fields'))
    }
  }

  async function control(user: string, path: string, method: string, body?: object): Promise<Response> {
    const init = body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}
    const result = await emulator.request(`/gmail/v1/users/me${path}`, { method, user, ...init })
    if (!result.ok) throw new Error(`${method} ${path}: ${result.status} ${await result.text()}`)
    watches.changed(user)
    return result
  }

  const relabel: Google['relabel'] = async (user, id, { add = [], remove = [] }) => {
    await control(user, `/messages/${id}/modify`, 'POST', { addLabelIds: add, removeLabelIds: remove })
  }

  const paths = { page: '/o/oauth2/v2/auth', form: '/o/oauth2/v2/auth/callback', token: '/token' }

  const settings = {
    GOOGLE_CLIENT_ID: client.id,
    GOOGLE_CLIENT_SECRET: client.secret,
    GOOGLE_AUTH_URL: `${url}/o/oauth2/v2/auth`,
    GOOGLE_TOKEN_URL: `${url}/token`,
    GOOGLE_USERINFO_URL: `${url}/v1/userinfo`,
    GOOGLE_API_URL: url,
    GOOGLE_PEOPLE_URL: url,
    GOOGLE_PUBSUB_URL: url,
  }

  const google: Google = {
    url,
    client,
    settings,
    pushSettings: {
      ...settings,
      PUBSUB_TOPIC_NAME: topic.topicName,
      PUBSUB_SUBSCRIPTION_NAME: topic.subscriptionName,
      APPLICATION_CREDENTIALS: topic.credentials,
    },
    allowRedirect(...uris) {
      const row = emulator.google.oauthClients.findOneBy('client_id', client.id)
      if (row)
        emulator.google.oauthClients.update(row.id, { redirect_uris: [...new Set([...row.redirect_uris, ...uris])] })
    },
    addUser(email, name = email.split('@')[0] ?? email) {
      emulator.seed({ users: [{ email, name }] })
      mail.begin(email)
    },
    deliver(user, raw, { labels = ['INBOX', 'UNREAD'], date = new Date(), threadId, id = hexId() } = {}) {
      emulator.seed({
        messages: [
          {
            id,
            user_email: user,
            raw: Buffer.from(raw).toString('base64url'),
            label_ids: labels,
            internal_date: String(date.getTime()),
            ...(threadId === undefined ? {} : { thread_id: threadId }),
          },
        ],
      })
      watches.changed(user)
      return id
    },
    relabel,
    markRead: (user, id, read) => relabel(user, id, read ? { remove: ['UNREAD'] } : { add: ['UNREAD'] }),
    star: (user, id, starred) => relabel(user, id, starred ? { add: ['STARRED'] } : { remove: ['STARRED'] }),
    trash: async (user, id) => void (await control(user, `/messages/${id}/trash`, 'POST', {})),
    delete: async (user, id) => void (await control(user, `/messages/${id}`, 'DELETE')),
    async createLabel(user, name) {
      const created = await control(user, '/labels', 'POST', { name })
      return ((await created.json()) as { id: string }).id
    },
    deleteLabel: async (user, id) => void (await control(user, `/labels/${id}`, 'DELETE')),
    messages: (user) =>
      emulator.messages(user).map(({ gmail_id, thread_id, label_ids, subject }) => ({
        id: gmail_id,
        threadId: thread_id,
        labels: label_ids,
        subject,
      })),
    aliases: new Map(),
    historyId: mail.historyId,
    expireHistory: mail.expireHistory,
    grant: (user, scopes = GOOGLE_SCOPES) =>
      grantWithoutBrowser({ url, client, find, allowRedirect: google.allowRedirect, ...paths }, user, scopes),
    denyConsent: (user, denied = true) => oauth.deny(user, denied),
    withholdScopes: oauth.withhold,
    foreignToken: oauth.foreignToken,
    misissueTokens: oauth.misissue,
    get accessTokenLifetime() {
      return tokens.lifetime
    },
    set accessTokenLifetime(seconds) {
      tokens.lifetime = seconds
    },
    expireAccessTokens: (user) => tokens.drop((held) => user === undefined || held.user === user),
    revokeGrants: oauth.revoke,
    refreshes: (user) => tokens.refreshes(user),
    calendars,
    people,
    sent,
    onSent: async () => {},
    fail: (fault) => faults.plan(fault),
    faults,
    calls,
    delegation: delegated,
    quota,
    limits,
    pubsub: topic,
    watch: watches,
    close: () => front.close(),
  }
  return google
}

const isGmail = (path: string): boolean => /^(\/upload)?\/gmail\//.test(path)

/** Applies a `fields` parameter of Gmail to a successful response. */
async function selected(response: FakeResponse, fields: string | null): Promise<FakeResponse> {
  const isJson = typeof response !== 'string' && response.headers.get('content-type')?.includes('json')
  if (!isJson || !response.ok || fields === null) return response
  const shown = partial(await response.json(), fields)
  return shown === undefined ? badRequest('Invalid field selection') : Response.json(shown)
}

let created = 0
/** In the format of Gmail's ids, increasing. */
const hexId = (): string => `19${(Date.now() * 1000 + (created++ % 1000)).toString(16).padStart(14, '0')}`

/** Whether the scopes allow this part of the API. Only the full scope permits deleting a message for good. */
function mayCall(method: string, path: string, scopes: string[]): boolean {
  if (method === 'DELETE' && path.includes('/messages/')) return scopes.includes('https://mail.google.com/')
  const hasAny = (...prefixes: string[]) => scopes.some((scope) => prefixes.some((prefix) => scope.startsWith(prefix)))
  if (isGmail(path)) return hasAny('https://mail.google.com/', ...gmailScopes(method, path))
  if (path.startsWith('/calendar/')) {
    const readable = [`${AUTH}calendar`, `${AUTH}calendar.readonly`]
    const isOfEvents = path.includes('/events')
    const isWrite = isOfEvents && method !== 'GET'
    return scopes.some(
      (scope) => (!isWrite && readable.includes(scope)) || (isOfEvents && scope === `${AUTH}calendar.events`),
    )
  }
  if (/^\/v1\/(people|contactGroups)\b/.test(path)) {
    return scopes.some(
      (scope) => scope === `${AUTH}contacts` || (method === 'GET' && scope === `${AUTH}contacts.readonly`),
    )
  }
  if (path.startsWith('/v1/projects/'))
    return hasAny('https://www.googleapis.com/auth/pubsub', 'https://www.googleapis.com/auth/cloud-platform')
  return true
}

/** The narrower scopes that allow a request to Gmail, as its discovery document lists them for each method. */
function gmailScopes(method: string, path: string): string[] {
  const isWatch = /\/(watch|stop)$/.test(path)
  const names = [
    'gmail.modify',
    ...(method === 'GET' || isWatch ? ['gmail.readonly'] : []),
    ...(/\/drafts\b|\/messages\/send$/.test(path) ? ['gmail.compose'] : []),
    ...(path.endsWith('/messages/send') ? ['gmail.send'] : []),
    ...(/\/labels\b/.test(path) ? ['gmail.labels'] : []),
  ]
  return names.map((name) => AUTH + name)
}
