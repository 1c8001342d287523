import { Calls } from './fake/calls.ts'
import { Faults, type PlannedFault } from './fake/faults.ts'
import { grantWithoutBrowser } from './fake/grant.ts'
import { type FakeRequest, type FakeResponse, startHttpServer } from './fake/http-server.ts'
import { router } from './fake/router.ts'
import { Tokens } from './fake/tokens.ts'
import { answerBatch } from './microsoft/batch.ts'
import { ChangeLog } from './microsoft/delta.ts'
import { accessDenied, graphError, graphFault, tooManyAtOnce, unauthenticated } from './microsoft/errors.ts'
import { mailRoutes } from './microsoft/mail.ts'
import { type Mailboxes, mailboxes } from './microsoft/mailbox.ts'
import { microsoftOauth } from './microsoft/oauth.ts'
import { client, openPackage } from './microsoft/package.ts'
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

/** Exchange answers no more than four requests of one application for one mailbox at once. */
const MOST_AT_ONCE = 4

export interface DeliverOptions {
  /** An id or a well-known name; default inbox. */
  folder?: string
  /** When it arrived; default now. */
  date?: Date
  read?: boolean
  draft?: boolean
}

/** Microsoft for tests: sign-in and Graph mail over real HTTP on loopback. Users are addresses, ids of mails the immutable ones. */
export interface Microsoft {
  url: string
  client: { id: string; secret: string }
  /** What points the service at it, as environment. */
  settings: Record<string, string>
  allowRedirect(...uris: string[]): void

  /** Default tenant: that of personal accounts. */
  addUser(email: string, options?: { name?: string; tenant?: string }): void
  /** Answers the immutable id. */
  deliver(user: string, mail: string | Buffer, options?: DeliverOptions): Promise<string>
  markRead(user: string, id: string, read: boolean): void
  star(user: string, id: string, starred: boolean): void
  /** To a folder's id or well-known name. */
  move(user: string, id: string, folder: string): void
  categorise(user: string, id: string, categories: string[]): void
  /** For good. */
  delete(user: string, id: string): void
  /** Below `parent`, an id or a well-known name; default the top. Answers its id. */
  createFolder(user: string, name: string, parent?: string): string
  renameFolder(user: string, id: string, name: string): void
  /** With everything in it. */
  deleteFolder(user: string, id: string): void
  /** The id of a well-known folder. */
  folderId(user: string, wellKnownName: string): string
  messages(user: string): { id: string; folderId: string; subject: string; read: boolean; starred: boolean }[]
  /** Every nextLink and deltaLink given out so far is answered with 410 syncStateNotFound. */
  expireDelta(user: string): void

  /** Consents without a browser. */
  grant(user: string, scopes?: string[]): Promise<{ accessToken: string; refreshToken: string }>
  denyConsent(user: string, denied?: boolean): void
  withholdScopes(user: string, scopes: string[]): void
  /** Seconds that new access tokens live; default 3600. */
  accessTokenLifetime: number
  expireAccessTokens(user?: string): void
  /** Everything dies; refreshing is `invalid_grant`. */
  revokeGrants(user: string): void
  /** Refreshing is `interaction_required` until the user consents again. */
  requireInteraction(user: string): void
  refreshes(user: string): number

  /** Milliseconds that every request to Graph takes at least, so that requests at once overlap; default 2. */
  latencyMs: number
  /** The most requests of this user that were under way at once, the refused ones counted. */
  mostAtOnce(user: string): number
  fail(fault: PlannedFault): void
  faults: Faults
  calls: Calls
  subscriptions: Pick<Subscriptions, 'of' | 'expire' | 'sent' | 'settled' | 'route' | 'telling'>
  lifecycle(user: string, event: Lifecycle): Promise<void>
  close(): Promise<void>
}

export async function startMicrosoft(options: { port?: number } = {}): Promise<Microsoft> {
  const tokens = new Tokens()
  const faults = new Faults()
  const calls = new Calls()
  const log = new ChangeLog()
  const underWay = new Map<string, number>()
  const most = new Map<string, number>()
  const front = await startHttpServer((request) => answer(request, false), options.port)
  const { url } = front
  const inner = await openPackage(url)
  const subscriptions = new Subscriptions(inner, () => boxes)
  const boxes: Mailboxes = mailboxes(
    inner,
    (change) => {
      log.record(change)
      void subscriptions.changed(change)
    },
    (user, id) => log.note(user, 'folders', id, id),
  )
  const oauth = microsoftOauth(inner, tokens, url)
  const find = router([...oauth.routes, ...mailRoutes(inner, boxes, log), ...subscriptions.routes])

  async function answer(request: FakeRequest, part: boolean): Promise<FakeResponse> {
    const { method, url: at } = request
    const grant = tokens.find(Tokens.bearerOf(request.headers) ?? '')
    const user = grant?.user ?? oauth.userOf(request)
    const match = find(method, at.pathname)
    const graph = at.pathname.startsWith('/v1.0/')
    const call: Calls['all'][number] = {
      user,
      what: `${method} ${match?.route.pattern ?? at.pathname}`,
      path: at.pathname + at.search,
      part,
    }
    calls.all.push(call)
    const result = graph && grant && !part ? await oneOfFour(grant.user, decide) : await decide()
    if (typeof result !== 'string') call.status = result.status
    return result

    async function decide(): Promise<FakeResponse> {
      const fault = faults.take({ user, method, url: at, part })
      if (fault && fault.as !== 'foreign-link') return graphFault(fault)
      if (graph && !grant) return unauthenticated()
      if (graph && !mayCall(at.pathname, grant?.scopes ?? [])) return accessDenied()
      if (method === 'POST' && at.pathname === '/v1.0/$batch')
        return answerBatch(request, (inside) => answer(inside, true))
      if (!match?.route.answer) return graphError(404, 'UnknownError', 'Resource not found for the segment.')
      const right = await match.route.answer({ ...request, user, params: match.params, part })
      return fault && typeof right !== 'string' ? astray(right, fault.foreignOrigin) : right
    }
  }

  async function oneOfFour(user: string, decide: () => Promise<FakeResponse>): Promise<FakeResponse> {
    const count = (underWay.get(user) ?? 0) + 1
    underWay.set(user, count)
    most.set(user, Math.max(count, most.get(user) ?? 0))
    try {
      await new Promise((resolve) => setTimeout(resolve, it.latencyMs))
      return count > MOST_AT_ONCE ? tooManyAtOnce() : await decide()
    } finally {
      underWay.set(user, (underWay.get(user) ?? 1) - 1)
    }
  }

  const paths = {
    page: '/common/oauth2/v2.0/authorize',
    form: '/oauth2/v2.0/authorize/callback',
    token: '/common/oauth2/v2.0/token',
  }

  const it: Microsoft = {
    url,
    client,
    settings: {
      MICROSOFT_CLIENT_ID: client.id,
      MICROSOFT_CLIENT_SECRET: client.secret,
      MICROSOFT_LOGIN_URL: url,
      MICROSOFT_GRAPH_URL: url,
    },
    allowRedirect(...uris) {
      const row = inner.microsoft.oauthClients.findOneBy('client_id', client.id)
      if (row)
        inner.microsoft.oauthClients.update(row.id, { redirect_uris: [...new Set([...row.redirect_uris, ...uris])] })
    },
    addUser: (email, { name = email.split('@')[0] ?? email, tenant } = {}) => boxes.open(email, name, tenant),
    deliver: (user, mail, { folder = 'inbox', date = new Date(), read = false, draft = false } = {}) =>
      boxes.deliver(user, Buffer.from(mail), { folder, date, read, draft }),
    markRead: boxes.markRead,
    star: boxes.flag,
    move(user, id, folder) {
      if (!boxes.move(user, id, folder)) throw new Error(`${user} has no folder ${folder}`)
    },
    categorise: boxes.categorise,
    delete: (user, id) => boxes.delete(user, id),
    createFolder(user, name, parent = 'msgfolderroot') {
      return boxes.insertFolder(user, name, it.folderId(user, parent), null)
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
    expireDelta: (user) => log.expire(user),
    grant: (user, scopes = MICROSOFT_SCOPES) =>
      grantWithoutBrowser({ url, client, find, allowRedirect: it.allowRedirect, ...paths }, user, scopes),
    denyConsent: (user, denied = true) => oauth.deny(user, denied),
    withholdScopes: oauth.withhold,
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
    latencyMs: 2,
    mostAtOnce: (user) => most.get(user) ?? 0,
    fail: (fault) => faults.plan(fault),
    faults,
    calls,
    subscriptions,
    lifecycle: (user, event) => subscriptions.lifecycle(user, event),
    async close() {
      await front.close()
      await subscriptions.settled()
    },
  }
  return it
}

/** The same answer with its links pointing to somebody else. */
async function astray(right: Response, origin = 'http://127.0.0.1:9'): Promise<Response> {
  const body = (await right.json()) as Record<string, unknown>
  for (const name of ['@odata.nextLink', '@odata.deltaLink']) {
    const link = body[name]
    if (typeof link === 'string') body[name] = link.replace(new URL(link).origin, origin)
  }
  return Response.json(body, { status: right.status })
}

/** The permission that each part of the API wants; a scope may carry the address of Graph before its name. */
function mayCall(path: string, scopes: string[]): boolean {
  const names = scopes.map((scope) => scope.split('/').at(-1))
  if (path === '/v1.0/me') return names.some((name) => name?.startsWith('User.Read'))
  return names.some((name) => name?.startsWith('Mail.Read'))
}
