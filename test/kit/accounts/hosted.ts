import { type AuthDeps, authRoutes } from '../../../src/accounts/auth/index.ts'
import type { AccountsDeps } from '../../../src/accounts/identity/service.ts'
import { VerificationLimit } from '../../../src/accounts/index.ts'
import { idempotency } from '../../../src/operations/idempotency/index.ts'
import { site, siteRoutes } from '../../../src/operations/site/index.ts'
import type { Cache } from '../../../src/platform/cache/cache.ts'
import { generateKeyRing, parseKeyRing, sealer } from '../../../src/platform/crypto/seal.ts'
import type { Db } from '../../../src/platform/db/index.ts'
import { createServer, openApiRoutes } from '../../../src/platform/http/index.ts'
import { idGenerator } from '../../../src/platform/ids.ts'
import { silentLog } from '../../../src/platform/log/index.ts'
import { type AddressGuard, addressGuard } from '../../../src/platform/net/index.ts'
import { outbound } from '../../../src/platform/outbound/index.ts'
import { type Clock, systemClock } from '../../../src/platform/time/clock.ts'
import { type MailAccess, ProviderError, type RemoteFolder } from '../../../src/providers/contract/index.ts'
import { freePort } from '../../servers/free-port.ts'
import { testAccounts } from './accounts.ts'

const HOSTED_KEY = 'test-key'

/** A fake mail server with one valid password. */
export interface FakeMailServer {
  password: string
  folders: RemoteFolder[]
  /** When set, every sign-in throws it. */
  failure: Error | undefined
  /** Every attempted sign-in. */
  attempts: MailAccess[]
  /** Those at its SMTP and its CalDAV server, which accept every password. */
  furtherAttempts: MailAccess[]
  /** Runs before each response. */
  beforeResponse: () => Promise<void>
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
      | 'formPorts'
      | 'log'
      | 'unreachableMs'
      | 'clock'
      | 'contactsEnabled'
    >
  > {
  accounts?: Partial<AccountsDeps>
  /** By default, both accept every password. */
  further?: Partial<AuthDeps['further']>
}

export type Hosted = Awaited<ReturnType<typeof serveHosted>>

/** The pages for people, that is, the hosted flow and the pages around it, on a real port, with real accounts. */
export async function serveHosted(db: Db, options: HostedOptions = {}) {
  const { accounts, further, ...overrides } = options
  const clock: Clock = options.clock ?? systemClock
  const ids = idGenerator(clock)
  const sealing = sealer(parseKeyRing(generateKeyRing()))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const mail = fakeMailServer()
  const fixture = testAccounts(db, { clock, ids, sealer: sealing, ...accounts })
  const idempotent = idempotency({ db, clock, sealer: sealing })
  const pages = site({ authScreen: overrides.authScreen ?? {}, portal: undefined })
  const app = createServer({
    log: silentLog,
    ids,
    publicUrl: url,
    authenticator: {
      authenticate: async ({ headers }) =>
        headers.authorization === `Bearer ${HOSTED_KEY}` ? { owner: 'test', scopes: ['read', 'write'] } : undefined,
    },
    idempotency: idempotent,
    rateLimits: { cache: countingCache() },
    trustedProxies: [],
    errorPage: pages.errorPage,
  })
  siteRoutes(app, pages, url)
  openApiRoutes(app)
  authRoutes(app, {
    db,
    clock,
    ids,
    sealer: sealing,
    log: silentLog,
    publicUrl: url,
    redirectUrl: undefined,
    formPorts: 'any',
    imap: { verify: mail.verify },
    verifications: new VerificationLimit(),
    mail: () => undefined,
    idempotency: idempotent,
    authScreen: {},
    contactsEnabled: false,
    logins: {},
    records: { mx: async () => [], srv: async () => [], txt: async () => [] },
    outbound: outbound({ guard: localGuard }),
    accounts: fixture.accounts,
    ...overrides,
    further: { smtp: mail.further, caldav: mail.further, ...further },
  })
  await app.listen({ host: '127.0.0.1', port })

  /** Sends one request and follows no redirect. `form` posts like a browser. */
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
    /** The settings and secrets of the account that a session connected. */
    async access(code: string): Promise<MailAccess> {
      const { accountId } = (await call(`/auth/sessions/${code}`, { key: true }).then((response) =>
        response.json(),
      )) as {
        accountId: string
      }
      return fixture.accounts.access(accountId)
    },

    close: () => app.close(),

    /** Creates a session. */
    async session(body: Record<string, unknown> = {}): Promise<{ code: string; authUrl: string }> {
      const response = await call('/auth/sessions', {
        key: true,
        json: { redirectUri: 'https://app.example/done', ...body },
      })
      if (response.status !== 200) throw new Error(await response.text())
      return JSON.parse(await response.text())
    },

    /** The session as the application reads it. */
    async status(code: string): Promise<Record<string, unknown>> {
      const response = await call(`/auth/sessions/${code}`, { key: true })
      return JSON.parse(await response.text())
    },

    /** Opens a link like a browser. Returns the page, its state and its cookies. */
    async open(link: string): Promise<Opened> {
      const response = await call(link, { headers: { accept: BROWSER_ACCEPT } })
      const page = await response.text()
      return { page, status: response.status, state: fieldValue(page, 'state'), cookie: readCookies(response) }
    },
  }
}

export interface Opened {
  page: string
  status: number
  state: string
  /** `Cookie` header for the next request. */
  cookie: string
}

export const BROWSER_ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'

/** The post of the IMAP form, with the headers of a browser. */
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

/** The value of a field on a page, as the browser would send it. */
export function fieldValue(page: string, name: string): string {
  const tag = new RegExp(`<input[^>]* name="${name}"[^>]*>`).exec(page)?.[0] ?? ''
  return unescaped(/ value="([^"]*)"/.exec(tag)?.[1] ?? '')
}

/** The target of the page's refresh. */
export function findRefresh(page: string): string | undefined {
  const content = /<meta http-equiv="refresh" content="0;url=([^"]*)">/.exec(page)?.[1]
  return content === undefined ? undefined : unescaped(content)
}

function readCookies(response: Response): string {
  return response.headers
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

function fakeMailServer() {
  const server: FakeMailServer = {
    password: 'right',
    folders: [folder('INBOX', 'inbox'), folder('Sent', 'sent'), folder('Lists', null, false), folder('Work/Größe')],
    failure: undefined,
    attempts: [],
    furtherAttempts: [],
    beforeResponse: async () => {},
  }
  return {
    server,
    further: { verify: async (access: MailAccess) => void server.furtherAttempts.push(access) },
    async verify(access: MailAccess) {
      server.attempts.push(access)
      await server.beforeResponse()
      if (server.failure !== undefined) throw server.failure
      if (access.secrets.password !== server.password) throw new ProviderError('auth_expired', 'refused')
      const path = access.settings.imap?.mailbox
      if (!server.folders.some((folder) => folder.selectable && folder.path === path)) {
        throw new ProviderError('not_found', 'no such folder')
      }
      return { folders: server.folders }
    },
  }
}

/** The real guard with a fake resolver: localhost, which is allowed, and hosts on the internet. */
export const localGuard: AddressGuard = addressGuard({
  privateTargets: 'loopback',
  clock: systemClock,
  async resolve(host) {
    if (host === 'localhost') return { addresses: ['127.0.0.1'], ttlMs: 1000 }
    if (host.endsWith('.example.com')) return { addresses: ['192.0.2.1'], ttlMs: 1000 }
    throw new Error(`unknown host ${host}`)
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
