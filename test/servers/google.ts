import { Calls } from './fake/calls.ts'
import { Faults, type PlannedFault } from './fake/faults.ts'
import { grantWithoutBrowser } from './fake/grant.ts'
import { type FakeRequest, type FakeResponse, startHttpServer } from './fake/http-server.ts'
import { router } from './fake/router.ts'
import { Tokens } from './fake/tokens.ts'
import { answerBatch } from './google/batch.ts'
import { googleFault, missingScope, notFound, unauthenticated } from './google/errors.ts'
import { gmail } from './google/gmail.ts'
import { googleOauth } from './google/oauth.ts'
import { client, openPackage } from './google/package.ts'
import { type Pubsub, pubsub } from './google/pubsub.ts'
import { type Watch, watch } from './google/watch.ts'

export const GOOGLE_SCOPES = ['openid', 'email', 'https://mail.google.com/']

export interface DeliverOptions {
  /** Default INBOX and UNREAD. A user label that does not exist is created with this name as its id. */
  labels?: string[]
  /** When it arrived; default now. */
  date?: Date
  /** Default what `In-Reply-To` and `References` say, else a thread of its own. */
  threadId?: string
  /** 16 hexadecimal digits as at Gmail unless given. */
  id?: string
}

/** Google for tests: sign-in, Gmail and Cloud Pub/Sub over real HTTP on loopback. Every method acts at once; users are addresses. */
export interface Google {
  url: string
  client: { id: string; secret: string }
  /** What points the service at it, as environment. Sign-in and mail only. */
  settings: Record<string, string>
  /** The same and push by Pub/Sub. */
  pushSettings: Record<string, string>
  /** Redirect addresses that the client may use, compared without query. */
  allowRedirect(...uris: string[]): void

  addUser(email: string, name?: string): void
  /** Answers the id. */
  deliver(user: string, mail: string | Buffer, options?: DeliverOptions): string
  relabel(user: string, id: string, change: { add?: string[]; remove?: string[] }): Promise<void>
  markRead(user: string, id: string, read: boolean): Promise<void>
  star(user: string, id: string, starred: boolean): Promise<void>
  trash(user: string, id: string): Promise<void>
  /** For good. */
  delete(user: string, id: string): Promise<void>
  /** Answers the id of the label. */
  createLabel(user: string, name: string): Promise<string>
  deleteLabel(user: string, id: string): Promise<void>
  /** What the mailbox holds now, newest last. */
  messages(user: string): { id: string; threadId: string; labels: string[]; subject: string }[]
  historyId(user: string): string
  /** Every historyId given out so far is answered with 404. */
  expireHistory(user: string): void

  /** Consents without a browser: tokens as the page would have led to. */
  grant(user: string, scopes?: string[]): Promise<{ accessToken: string; refreshToken: string }>
  /** On the page, choosing this user ends in `access_denied`. */
  denyConsent(user: string, denied?: boolean): void
  /** Scopes that this user leaves unticked from now on. */
  withholdScopes(user: string, scopes: string[]): void
  /** Seconds that new access tokens live; default 3600. */
  accessTokenLifetime: number
  /** Access tokens die, refresh tokens work. */
  expireAccessTokens(user?: string): void
  /** The user took the consent back: everything dies, refreshing is `invalid_grant`. */
  revokeGrants(user: string): void
  /** Times that a refresh token of this user was presented. */
  refreshes(user: string): number

  fail(fault: PlannedFault): void
  faults: Faults
  /** Requests by method and path pattern; `calls.counts({ user })`. */
  calls: Calls
  pubsub: Pubsub
  watch: Pick<Watch, 'expire' | 'watched'>
  close(): Promise<void>
}

export async function startGoogle(options: { port?: number } = {}): Promise<Google> {
  const tokens = new Tokens()
  const faults = new Faults()
  const calls = new Calls()
  const front = await startHttpServer((request) => answer(request, false), options.port)
  const { url } = front
  const inner = openPackage(url)
  const topic = pubsub(url, tokens)
  const pushing = watch(() => mail, topic)
  const mail = gmail(inner, pushing.changed)
  const oauth = googleOauth(inner, tokens, topic.exchange)
  const find = router([...oauth.routes, ...pushing.routes, ...mail.routes, ...topic.routes])

  async function answer(request: FakeRequest, part: boolean): Promise<FakeResponse> {
    const { method, url: at } = request
    const grant = tokens.find(Tokens.bearerOf(request.headers) ?? '')
    const user = grant?.user ?? oauth.userOf(request)
    const batch = !part && method === 'POST' && at.pathname.startsWith('/batch')
    const match = find(method, at.pathname)
    const what = `${method} ${match?.route.pattern ?? at.pathname}`
    const call: Calls['all'][number] = { user, what, path: at.pathname + at.search, part }
    calls.all.push(call)
    const result = await decide()
    if (typeof result !== 'string') call.status = result.status
    return result

    async function decide(): Promise<FakeResponse> {
      const fault = faults.take({ user, method, url: at, part })
      if (fault) return googleFault(fault)
      if (batch) return answerBatch(request, (inside) => answer(inside, true))
      if (!match?.route.answer) return notFound()
      if (match.route.signedIn !== false) {
        if (!grant) return unauthenticated()
        if (!mayCall(at.pathname, grant.scopes)) return missingScope()
      }
      return match.route.answer({ ...request, user, params: match.params, part })
    }
  }

  async function control(user: string, path: string, method: string, body?: object): Promise<Response> {
    const sent = body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}
    const result = await inner.ask(`/gmail/v1/users/me${path}`, { method, user, ...sent })
    if (!result.ok) throw new Error(`${method} ${path}: ${result.status} ${await result.text()}`)
    pushing.changed(user)
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
    GOOGLE_PUBSUB_URL: url,
  }

  const it: Google = {
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
      const row = inner.google.oauthClients.findOneBy('client_id', client.id)
      if (row)
        inner.google.oauthClients.update(row.id, { redirect_uris: [...new Set([...row.redirect_uris, ...uris])] })
    },
    addUser(email, name = email.split('@')[0] ?? email) {
      inner.seed({ users: [{ email, name }] })
      mail.begin(email)
    },
    deliver(user, raw, { labels = ['INBOX', 'UNREAD'], date = new Date(), threadId, id = hexId() } = {}) {
      inner.seed({
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
      pushing.changed(user)
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
      inner.messages(user).map(({ gmail_id, thread_id, label_ids, subject }) => ({
        id: gmail_id,
        threadId: thread_id,
        labels: label_ids,
        subject,
      })),
    historyId: mail.historyId,
    expireHistory: mail.expireHistory,
    grant: (user, scopes = GOOGLE_SCOPES) =>
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
    refreshes: (user) => tokens.refreshes(user),
    fail: (fault) => faults.plan(fault),
    faults,
    calls,
    pubsub: topic,
    watch: pushing,
    close: () => front.close(),
  }
  return it
}

let made = 0
/** As Gmail's look; later ones are greater. */
const hexId = (): string => `19${(Date.now() * 1000 + (made++ % 1000)).toString(16).padStart(14, '0')}`

/** The scope that each part of the API wants. */
function mayCall(path: string, scopes: string[]): boolean {
  const some = (...wanted: string[]) => scopes.some((scope) => wanted.some((name) => scope.startsWith(name)))
  if (path.startsWith('/gmail/')) return some('https://mail.google.com/', 'https://www.googleapis.com/auth/gmail.')
  if (path.startsWith('/v1/projects/'))
    return some('https://www.googleapis.com/auth/pubsub', 'https://www.googleapis.com/auth/cloud-platform')
  return true
}
