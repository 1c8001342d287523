import { createServer as createSocket } from 'node:net'
import type { AccountsDeps } from '../../src/features/accounts/index.ts'
import { type AuthDeps, authRoutes } from '../../src/features/auth/index.ts'
import { idempotency } from '../../src/features/idempotency/index.ts'
import type { Cache } from '../../src/infra/cache/cache.ts'
import type { Db } from '../../src/infra/db/index.ts'
import { createServer, outbound } from '../../src/infra/http/index.ts'
import { silentLog } from '../../src/infra/log/index.ts'
import { type AddressGuard, addressGuard } from '../../src/infra/net/index.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { idGenerator } from '../../src/lib/ids.ts'
import { generateKeyRing, parseKeyRing, sealer } from '../../src/lib/seal.ts'
import { type MailAccess, ProviderError, type RemoteFolder } from '../../src/providers/contract/index.ts'
import { accountsRoom } from './accounts.ts'

const HOSTED_KEY = 'test-key'

/** A mail server that knows one password; it stands in for the network. */
export interface MailServer {
  password: string
  folders: RemoteFolder[]
  /** Thrown instead of an answer. */
  failure: Error | undefined
  /** Every sign-in that was tried. */
  attempts: MailAccess[]
  /** Runs before each answer. */
  beforeAnswer: () => Promise<void>
}

export interface Call {
  method?: string
  key?: boolean
  json?: unknown
  form?: Record<string, string>
  headers?: Record<string, string>
}

export interface HostedOptions
  extends Partial<
    Pick<
      AuthDeps,
      | 'publicUrl'
      | 'redirectUrl'
      | 'logins'
      | 'records'
      | 'outbound'
      | 'mail'
      | 'authScreen'
      | 'licence'
      | 'imap'
      | 'guard'
      | 'clock'
    >
  > {
  accounts?: Partial<AccountsDeps>
}

export type Hosted = Awaited<ReturnType<typeof serveHosted>>

/** The hosted flow alone, on a real port, with real accounts behind it. */
export async function serveHosted(db: Db, options: HostedOptions = {}) {
  const { accounts, ...overrides } = options
  const clock: Clock = options.clock ?? systemClock
  const ids = idGenerator(clock)
  const sealing = sealer(parseKeyRing(generateKeyRing()))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const mail = mailServer()
  const room = accountsRoom(db, { clock, ids, sealer: sealing, ...accounts })
  const idempotent = idempotency({ db, clock, sealer: sealing })
  const app = createServer({
    log: silentLog,
    ids,
    authenticator: {
      authenticate: async ({ headers }) =>
        headers.authorization === `Bearer ${HOSTED_KEY}` ? { owner: 'test', scopes: ['read', 'write'] } : undefined,
    },
    idempotency: idempotent,
    rateLimits: { cache: countingCache() },
    trustedProxies: [],
  })
  authRoutes(app, {
    db,
    clock,
    ids,
    sealer: sealing,
    log: silentLog,
    publicUrl: url,
    redirectUrl: undefined,
    guard: localGuard,
    imap: { verify: mail.verify },
    mail: () => undefined,
    idempotency: idempotent,
    authScreen: {},
    logins: {},
    records: { mx: async () => [], srv: async () => [] },
    outbound: outbound({ guard: localGuard }),
    accounts: room.accounts,
    ...overrides,
  })
  await app.listen({ host: '127.0.0.1', port })

  /** One request, no redirect followed. `form` posts as a browser does. */
  function call(path: string, { method, key, json, form, headers = {} }: Call = {}): Promise<Response> {
    const type = form === undefined ? json !== undefined && 'application/json' : 'application/x-www-form-urlencoded'
    return fetch(path.startsWith('http') ? path : url + path, {
      method: method ?? (json === undefined && form === undefined ? 'GET' : 'POST'),
      redirect: 'manual',
      headers: {
        ...(type && { 'content-type': type }),
        ...(key && { authorization: `Bearer ${HOSTED_KEY}` }),
        ...headers,
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(form !== undefined && { body: new URLSearchParams(form) }),
    })
  }

  return {
    url,
    mail: mail.server,
    call,
    accountCount: async () =>
      Number(
        (
          await db.read
            .selectFrom('accounts')
            .select((eb) => eb.fn.countAll().as('n'))
            .executeTakeFirst()
        )?.n,
      ),
    close: () => app.close(),

    /** A new session. */
    async session(body: Record<string, unknown> = {}): Promise<{ code: string; authUrl: string }> {
      const answer = await call('/auth/sessions', {
        key: true,
        json: { redirectUri: 'https://app.example/done', ...body },
      })
      if (answer.status !== 200) throw new Error(await answer.text())
      return JSON.parse(await answer.text())
    },

    /** What the application is told of a session. */
    async status(code: string): Promise<Record<string, unknown>> {
      const answer = await call(`/auth/sessions/${code}`, { key: true })
      return JSON.parse(await answer.text())
    },

    /** Opens a link as a browser does: the page's state and the cookies it set. */
    async open(link: string): Promise<Opened> {
      const answer = await call(link, { headers: { accept: BROWSER_ACCEPT } })
      const page = await answer.text()
      return { page, status: answer.status, state: fieldValue(page, 'state'), cookie: cookiesOf(answer) }
    },
  }
}

export interface Opened {
  page: string
  status: number
  state: string
  /** As the `Cookie` header of the next request. */
  cookie: string
}

export const BROWSER_ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'

/** What a browser posts from the form for the mail server, and the headers it sends. */
export function imapForm(code: string, opened: Opened, fields: Record<string, string> = {}): Call {
  return {
    form: { session: code, state: opened.state, ...IMAP_FIELDS, ...fields },
    headers: { cookie: opened.cookie, accept: BROWSER_ACCEPT },
  }
}

export const IMAP_FIELDS = {
  email: 'ada@example.com',
  host: 'imap.example.com',
  username: 'ada',
  password: 'right',
}

/** The value of a field of a page, as the browser would send it. */
export function fieldValue(page: string, name: string): string {
  const tag = new RegExp(`<input[^>]* name="${name}"[^>]*>`).exec(page)?.[0] ?? ''
  return unescaped(/ value="([^"]*)"/.exec(tag)?.[1] ?? '')
}

/** Where the page goes by itself. */
export function refreshOf(page: string): string | undefined {
  const content = /<meta http-equiv="refresh" content="0;url=([^"]*)">/.exec(page)?.[1]
  return content === undefined ? undefined : unescaped(content)
}

function cookiesOf(answer: Response): string {
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}

export function folder(path: string, role: RemoteFolder['role'] = null, selectable = true): RemoteFolder {
  return { path, name: path.split('/').at(-1) ?? path, delimiter: '/', role, selectable, mailboxId: null }
}

function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}

function mailServer() {
  const server: MailServer = {
    password: 'right',
    folders: [folder('INBOX', 'inbox'), folder('Sent', 'sent'), folder('Lists', null, false), folder('Work/Größe')],
    failure: undefined,
    attempts: [],
    beforeAnswer: async () => {},
  }
  return {
    server,
    async verify(access: MailAccess) {
      server.attempts.push(access)
      await server.beforeAnswer()
      if (server.failure !== undefined) throw server.failure
      if (access.secrets.password !== server.password) throw new ProviderError('auth_expired', 'refused')
      const wanted = access.settings.imap?.mailbox
      if (!server.folders.some(({ path, selectable }) => selectable && path === wanted)) {
        throw new ProviderError('not_found', 'no such folder')
      }
      return { folders: server.folders }
    },
  }
}

/** The real guard, told of two names: this machine, which may be reached, and a server elsewhere. */
export const localGuard: AddressGuard = addressGuard({
  privateTargets: 'loopback',
  clock: systemClock,
  async resolve(host) {
    if (host === 'localhost') return { addresses: ['127.0.0.1'], ttlMs: 1000 }
    if (host.endsWith('.example.com')) return { addresses: ['192.0.2.1'], ttlMs: 1000 }
    throw new Error('there is no such name')
  },
})

function countingCache(): Cache {
  const counts = new Map<string, number>()
  return {
    provider: 'memory',
    get: async () => undefined,
    set: async () => {},
    delete: async () => {},
    async increment(key, ttlMs) {
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      return { count, resetInMs: ttlMs }
    },
    ping: async () => {},
    close: async () => {},
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = createSocket()
    socket.on('error', reject)
    socket.listen(0, '127.0.0.1', () => {
      const address = socket.address()
      socket.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
