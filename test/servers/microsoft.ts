import { Calls } from './fake/calls.ts'
import { Faults, type PlannedFault } from './fake/faults.ts'
import { grantWithoutBrowser } from './fake/grant.ts'
import { type FakeRequest, type FakeResponse, startHttpServer } from './fake/http-server.ts'
import { Limits } from './fake/limits.ts'
import { router } from './fake/router.ts'
import { Tokens } from './fake/tokens.ts'
import { applications } from './microsoft/applications.ts'
import { handleBatch } from './microsoft/batch.ts'
import { type MicrosoftCalendars, microsoftCalendar } from './microsoft/calendar.ts'
import { type MicrosoftContacts, microsoftContacts } from './microsoft/contacts.ts'
import { ChangeLog } from './microsoft/delta.ts'
import { directoryRoutes } from './microsoft/directory.ts'
import { client, openEmulator } from './microsoft/emulator.ts'
import {
  accessDenied,
  graphError,
  graphFault,
  limitExceeded,
  noMailbox,
  noMe,
  pageTooLarge,
  refusedToken,
  sendAsDenied,
  tooManyAtOnce,
  unauthenticated,
} from './microsoft/errors.ts'
import { mailRoutes } from './microsoft/mail.ts'
import { type Mailboxes, mailboxes } from './microsoft/mailbox.ts'
import { microsoftOauth } from './microsoft/oauth.ts'
import { asSent, requestedPage } from './microsoft/resources.ts'
import type { GraphSubmission } from './microsoft/sending.ts'
import { type Lifecycle, Subscriptions } from './microsoft/subscriptions.ts'

export const MICROSOFT_SCOPES = [
  'openid',
  'email',
  'profile',
  'offline_access',
  'User.Read',
  'Mail.ReadWrite',
  'Mail.Send',
]
export const OUTLOOK_CALENDAR_SCOPES = ['Calendars.ReadWrite']
export const OUTLOOK_CONTACTS_SCOPES = ['Contacts.ReadWrite']

/** Exchange allows an application four concurrent requests per mailbox. Each part of a batch is one. */
const MAX_CONCURRENT = 4
const MAX_REQUEST_BYTES = 4 * 1024 * 1024

export interface DeliverOptions {
  /** An id or a well-known name; default inbox. */
  folder?: string
  /** Time of arrival; default now. */
  date?: Date
  read?: boolean
  draft?: boolean
}

/**
 * A fake of Microsoft for tests: sign-in, Graph mail, calendars and contacts over real HTTP on loopback. A user is identified by
 * email address, a message by its immutable id.
 */
export interface Microsoft {
  url: string
  client: { id: string; secret: string }
  /** Environment variables that point the service at the fake. */
  settings: Record<string, string>
  allowRedirect(...uris: string[]): void

  /** The default tenant is that of personal accounts. */
  addUser(email: string, options?: { name?: string; tenant?: string }): void
  /**
   * The user has no mailbox that Graph can reach. `none`: 404, as for guests of a directory. `unlicensed`: 401 without a body. Null: it
   * has one.
   */
  withholdMailbox(user: string, how: 'none' | 'unlicensed' | null): void
  /** Returns the immutable id. */
  deliver(user: string, raw: string | Buffer, options?: DeliverOptions): Promise<string>
  markRead(user: string, id: string, read: boolean): void
  star(user: string, id: string, starred: boolean): void
  /** `folder` is an id or a well-known name. */
  move(user: string, id: string, folder: string): void
  categorise(user: string, id: string, categories: string[]): void
  /** Deletes permanently. */
  delete(user: string, id: string): void
  /** Returns the id. `parent` is an id or a well-known name; default the root folder. */
  createFolder(user: string, name: string, parent?: string): string
  renameFolder(user: string, id: string, name: string): void
  /** Deletes the folder with its messages and child folders. */
  deleteFolder(user: string, id: string): void
  /** The id of a well-known folder. */
  folderId(user: string, wellKnownName: string): string
  messages(user: string): { id: string; folderId: string; subject: string; read: boolean; starred: boolean }[]
  calendars: MicrosoftCalendars
  contacts: MicrosoftContacts
  /** Requests of this user for larger pages of messages, events or contacts fail with this status (504). */
  limitPages(user: string, items: number, status?: number): void
  /** National clouds have no `permanentDelete`. Default worldwide. */
  cloud: 'worldwide' | 'national'
  /** Makes every nextLink and deltaLink of mail issued so far return 410 syncStateNotFound. */
  expireDelta(user: string): void

  /** Consents without a browser, and returns the tokens. */
  grant(user: string, scopes?: string[]): Promise<{ accessToken: string; refreshToken: string }>
  denyConsent(user: string, denied?: boolean): void
  withholdScopes(user: string, scopes: string[]): void
  /** Makes each refresh of this user return tokens of another user; null ends that. */
  misissueTokens(user: string, other: string | null): void
  /** Lifetime of new access tokens in seconds; default 3600. */
  accessTokenLifetime: number
  expireAccessTokens(user?: string): void
  /** Invalidates every token; refreshing returns `invalid_grant`. */
  revokeGrants(user: string): void
  /** Refreshing returns `interaction_required` until the user consents again. */
  requireInteraction(user: string): void
  refreshes(user: string): number

  /** Further addresses of mailboxes. */
  readonly aliases: Map<string, readonly string[]>
  /** Every message that was sent. */
  readonly sent: readonly GraphSubmission[]
  /** Awaited between the acceptance of a message and the reply. */
  onSent(): Promise<void>
  /** Origin of the addresses of upload sessions; default this server. */
  uploadOrigin: string
  /** True: messages created from MIME get a Message-ID of Exchange. Default false. */
  replacesMessageIds: boolean
  /** Minimum duration of a Graph request, so that concurrent requests overlap; default 2. */
  latencyMs: number
  /** Highest number of concurrent requests of this user, including rejected ones. */
  peakConcurrency(user: string): number
  fail(fault: PlannedFault): void
  faults: Faults
  calls: Calls
  /** Graph's limits of the rate. None but that of concurrent requests until a test enforces them. */
  limits: Limits
  /** Consents of administrators to the application, for whole tenants. */
  applications: Pick<
    ReturnType<typeof applications>,
    | 'addresses'
    | 'consent'
    | 'refuse'
    | 'share'
    | 'tokenRequests'
    | 'runningTokenRequests'
    | 'peakTokenRequests'
    | 'pace'
  >
  subscriptions: Pick<Subscriptions, 'of' | 'expire' | 'sent' | 'flush' | 'route' | 'enabled'>
  lifecycle(user: string, event: Lifecycle): Promise<void>
  close(): Promise<void>
}

export async function startMicrosoft(options: { port?: number } = {}): Promise<Microsoft> {
  const tokens = new Tokens()
  const faults = new Faults()
  const calls = new Calls()
  const limits = new Limits()
  const log = new ChangeLog()
  const active = new Map<string, number>()
  const peaks = new Map<string, number>()
  const pageLimits = new Map<string, { items: number; status: number }>()
  const withoutMailbox = new Map<string, 'none' | 'unlicensed'>()
  const front = await startHttpServer((request) => handle(request, false), options.port)
  const { url } = front
  const emulator = await openEmulator(url)
  const subscriptions = new Subscriptions(
    emulator,
    () => boxes,
    (request, resource) => {
      const grant = findGrant(request)
      const id = /^\/?users\/([^/]+)\//i.exec(resource)?.[1]
      if (grant === undefined || id === undefined) return request.user ?? noMe()
      // With the permission of a person, Graph notifies only of that person's own mailbox.
      if (grant.application === undefined) return accessDenied()
      return apps.openMailbox(grant, decodeURIComponent(id))
    },
  )
  const boxes: Mailboxes = mailboxes(
    emulator,
    (change) => {
      log.record(change)
      void subscriptions.changed(change)
    },
    (user, id) => log.note(user, 'folders', { id, wasId: id }),
  )
  const apps = applications(emulator, tokens, url)
  const oauth = microsoftOauth(emulator, tokens, url, apps.token)
  const sent: GraphSubmission[] = []
  const mail = mailRoutes(emulator, boxes, log, {
    sent,
    onSent: () => microsoft.onSent(),
    uploadOrigin: () => microsoft.uploadOrigin,
    replacesMessageIds: () => microsoft.replacesMessageIds,
    aliasesOf: (user) => microsoft.aliases.get(user) ?? [],
    maySendAs(request, mailbox, from) {
      if (from === mailbox || microsoft.aliases.get(mailbox)?.includes(from)) return true
      const grant = findGrant(request)
      const isGranted = grant?.scopes.some((scope) => scope.endsWith('Mail.Send.Shared')) ?? false
      return isGranted && apps.maySend(from, grant?.user ?? '')
    },
    isWorldwide: () => microsoft.cloud === 'worldwide',
  })
  const { calendars, routes: calendarRoutes } = microsoftCalendar((user, id, type) => {
    void subscriptions.eventChanged(user, id, type)
  })
  const { contacts, routes: contactRoutes } = microsoftContacts()
  const findGrant = ({ headers }: FakeRequest) => tokens.find(Tokens.readBearer(headers) ?? '')
  const directory = directoryRoutes(apps, findGrant)
  const find = router([
    ...oauth.routes,
    ...mail,
    ...calendarRoutes,
    ...contactRoutes,
    ...directory,
    ...subscriptions.routes,
  ])

  /** A request below `/users/{id}` is one below `/me` of that user, if the token opens the mailbox. */
  async function handle(request: FakeRequest, part: boolean): Promise<FakeResponse> {
    const grant = findGrant(request)
    const [, id, below = ''] = /^\/v1\.0\/users\/([^/]+)\/(.+)$/.exec(request.url.pathname) ?? []
    if (id === undefined || grant === undefined) return handleInMailbox(request, part, grant?.user || null)
    const mailbox = apps.openMailbox(grant, decodeURIComponent(id))
    if (typeof mailbox !== 'string') return mailbox
    const url = new URL(request.url)
    url.pathname = `/v1.0/me/${below}`
    const isShared = grant.application === undefined && mailbox !== grant.user
    if (isShared && below.endsWith('/send') && !apps.maySend(mailbox, grant.user)) return sendAsDenied()
    // The scopes of a person for the mailboxes of others have names of their own.
    const scopes = isShared
      ? grant.scopes.flatMap((scope) => (scope.endsWith('.Shared') ? scope.slice(0, -'.Shared'.length) : []))
      : grant.scopes
    const response = await handleInMailbox({ ...request, url }, part, mailbox, scopes)
    if (typeof response === 'string') return response
    return withMailboxLinks(response, response.headers.get('x-foreign-mailbox') ?? id)
  }

  /** `mailbox` is the user whose mailbox `/me` means; null for a token of an application that names none. */
  async function handleInMailbox(
    request: FakeRequest,
    part: boolean,
    mailbox: string | null,
    scopes = findGrant(request)?.scopes.filter((scope) => !scope.endsWith('.Shared')) ?? [],
  ): Promise<FakeResponse> {
    const { method, url: at } = request
    const grant = findGrant(request)
    const user = mailbox ?? oauth.findUser(request)
    const match = find(method, at.pathname)
    const graph = at.pathname.startsWith('/v1.0/')
    const call: Calls['all'][number] = {
      user,
      endpoint: `${method} ${match?.route.pattern ?? at.pathname}`,
      path: at.pathname + at.search,
      part,
    }
    calls.all.push(call)
    const isBatch = method === 'POST' && at.pathname === '/v1.0/$batch'
    const result = graph && mailbox !== null && !isBatch ? await limitConcurrency(mailbox, respond) : await respond()
    if (typeof result !== 'string') call.status = result.status
    return result

    async function respond(): Promise<FakeResponse> {
      const fault = faults.take({ user, method, url: at, part })
      if (fault && fault.as !== 'foreign-link' && !fault.executes) return graphFault(fault)
      if (graph && !grant) return unauthenticated()
      const { endpoint } = call
      const exceeded = graph ? limits.spend({ user, endpoint, bytes: request.body.length }) : undefined
      if (exceeded !== undefined) return limitExceeded(exceeded.name)
      if (graph && mailbox === null && /^\/v1\.0\/me(\/|$)/.test(at.pathname)) return noMe()
      if (graph && !mayCall(method, at.pathname, scopes)) return accessDenied()
      if (graph && request.body.length > MAX_REQUEST_BYTES) {
        return graphError(413, 'BadRequest', 'The maximum request length supported is 4MB.')
      }
      if (isBatch) return handleBatch(request, (inside) => handle(inside, true))
      const refusal = at.pathname.startsWith('/v1.0/me/') ? withoutMailbox.get(mailbox ?? '') : undefined
      if (refusal !== undefined) return refusal === 'none' ? noMailbox() : refusedToken()
      if (!match) return graphError(404, 'UnknownError', 'Resource not found for the segment.')
      const limit = pageLimits.get(mailbox ?? '')
      if (limit !== undefined && requestedPage(request) > limit.items) return pageTooLarge(limit.status)
      const handled = await match.route.handle({ ...request, user, params: match.params, part })
      const response = graph && typeof handled !== 'string' ? await asSent(handled, request) : handled
      if (fault?.executes) return graphFault(fault)
      if (!fault || typeof response === 'string') return response
      if (fault.foreignMailbox === undefined) return withForeignLinks(response, fault.foreignOrigin)
      const headers = new Headers(response.headers)
      headers.set('x-foreign-mailbox', encodeURIComponent(fault.foreignMailbox))
      return new Response(response.body, { status: response.status, headers })
    }
  }

  async function limitConcurrency(user: string, respond: () => Promise<FakeResponse>): Promise<FakeResponse> {
    const count = (active.get(user) ?? 0) + 1
    active.set(user, count)
    peaks.set(user, Math.max(count, peaks.get(user) ?? 0))
    try {
      await new Promise((resolve) => setTimeout(resolve, microsoft.latencyMs))
      return count > MAX_CONCURRENT ? tooManyAtOnce() : await respond()
    } finally {
      active.set(user, (active.get(user) ?? 1) - 1)
    }
  }

  const paths = {
    page: '/common/oauth2/v2.0/authorize',
    form: '/oauth2/v2.0/authorize/callback',
    token: '/common/oauth2/v2.0/token',
  }

  const microsoft: Microsoft = {
    url,
    client,
    settings: {
      MICROSOFT_CLIENT_ID: client.id,
      MICROSOFT_CLIENT_SECRET: client.secret,
      MICROSOFT_LOGIN_URL: url,
      MICROSOFT_GRAPH_URL: url,
    },
    allowRedirect(...uris) {
      const row = emulator.microsoft.oauthClients.findOneBy('client_id', client.id)
      if (row)
        emulator.microsoft.oauthClients.update(row.id, { redirect_uris: [...new Set([...row.redirect_uris, ...uris])] })
    },
    addUser: (email, { name = email.split('@')[0] ?? email, tenant } = {}) => boxes.open(email, name, tenant),
    withholdMailbox(user, how) {
      if (how === null) withoutMailbox.delete(user)
      else withoutMailbox.set(user, how)
    },
    deliver: (user, raw, { folder = 'inbox', date = new Date(), read = false, draft = false } = {}) =>
      boxes.deliver(user, Buffer.from(raw), { folder, date, read, draft }),
    markRead: boxes.markRead,
    star: boxes.flag,
    move(user, id, folder) {
      if (!boxes.move(user, id, folder)) throw new Error(`${user} has no folder ${folder}`)
    },
    categorise: boxes.categorise,
    delete: (user, id) => boxes.delete(user, id),
    createFolder(user, name, parent = 'msgfolderroot') {
      return boxes.insertFolder(user, name, microsoft.folderId(user, parent), null)
    },
    renameFolder: (user, id, name) => boxes.renameFolder(user, id, name),
    deleteFolder: (user, id) => boxes.deleteFolder(user, id),
    folderId(user, name) {
      const found = boxes.folder(user, name)
      if (!found) throw new Error(`${user} has no folder ${name}`)
      return found.microsoft_id
    },
    messages: (user) =>
      boxes.messages(user).map(({ microsoft_id, parent_folder_id, subject, is_read }) => ({
        id: microsoft_id,
        folderId: parent_folder_id,
        subject,
        read: is_read,
        starred: boxes.isFlagged(microsoft_id),
      })),
    calendars,
    contacts,
    limitPages: (user, items, status = 504) => void pageLimits.set(user, { items, status }),
    cloud: 'worldwide',
    expireDelta: (user) => log.expire(user),
    grant: (user, scopes = MICROSOFT_SCOPES) =>
      grantWithoutBrowser({ url, client, find, allowRedirect: microsoft.allowRedirect, ...paths }, user, scopes),
    denyConsent: (user, denied = true) => oauth.deny(user, denied),
    withholdScopes: oauth.withhold,
    misissueTokens: oauth.misissue,
    get accessTokenLifetime() {
      return tokens.lifetime
    },
    set accessTokenLifetime(seconds) {
      tokens.lifetime = seconds
    },
    expireAccessTokens: (user) => tokens.drop((held) => user === undefined || held.user === user),
    revokeGrants: oauth.revoke,
    requireInteraction: oauth.requireInteraction,
    refreshes: (user) => tokens.refreshes(user),
    aliases: new Map(),
    sent,
    onSent: async () => {},
    uploadOrigin: url,
    replacesMessageIds: false,
    latencyMs: 2,
    peakConcurrency: (user) => peaks.get(user) ?? 0,
    fail: (fault) => faults.plan(fault),
    faults,
    calls,
    limits,
    applications: apps,
    subscriptions,
    lifecycle: (user, event) => subscriptions.lifecycle(user, event),
    async close() {
      await front.close()
      await subscriptions.flush()
    },
  }
  return microsoft
}

/** Links of a mailbox below `/users/{id}` lead there. */
async function withMailboxLinks(response: Response, id: string): Promise<Response> {
  if (!response.ok || !response.headers.get('content-type')?.includes('json')) return response
  const body = await readJson(response.clone())
  // The truncated response of a planned fault.
  if (body === undefined) return response
  for (const name of ['@odata.nextLink', '@odata.deltaLink']) {
    const link = body[name]
    if (typeof link === 'string') body[name] = link.replace('/v1.0/me/', `/v1.0/users/${id}/`)
  }
  return Response.json(body, { status: response.status })
}

/** Undefined for what is not JSON. */
function readJson(response: Response): Promise<Record<string, unknown> | undefined> {
  return response.json().then(
    (body) => body as Record<string, unknown>,
    () => undefined,
  )
}

/** Replaces the origin of the response's links. */
async function withForeignLinks(response: Response, origin = 'http://127.0.0.1:9'): Promise<Response> {
  const body = (await response.json()) as Record<string, unknown>
  for (const name of ['@odata.nextLink', '@odata.deltaLink']) {
    const link = body[name]
    if (typeof link === 'string') body[name] = link.replace(new URL(link).origin, origin)
  }
  return Response.json(body, { status: response.status })
}

/** Whether the scopes allow this part of the API. A scope may be prefixed with Graph's URL. */
function mayCall(method: string, path: string, scopes: string[]): boolean {
  const names = scopes.map((scope) => scope.split('/').at(-1))
  if (/^\/v1\.0\/users(\/|$)/.test(path)) return true
  if (path === '/v1.0/me') return names.some((name) => name?.startsWith('User.Read'))
  if (path.endsWith('/send')) return names.some((name) => name?.toLowerCase() === 'mail.send')
  if (/^\/v1\.0\/me\/(calendar|events)/.test(path)) {
    const isRead = method === 'GET' || path.endsWith('/getSchedule')
    return names.some((name) => name?.startsWith(isRead ? 'Calendars.Read' : 'Calendars.ReadWrite'))
  }
  if (/^\/v1\.0\/me\/contact(s|Folders)\b/.test(path)) {
    return names.some((name) => name?.startsWith(method === 'GET' ? 'Contacts.Read' : 'Contacts.ReadWrite'))
  }
  if (path === '/v1.0/$batch') return names.some((name) => /^(Mail|Calendars|Contacts)\.Read/.test(name ?? ''))
  if (method !== 'GET' && path.startsWith('/v1.0/me/')) return names.some((name) => name?.startsWith('Mail.ReadWrite'))
  return names.some((name) => name?.startsWith('Mail.Read'))
}
