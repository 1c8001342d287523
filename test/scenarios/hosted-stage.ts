import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSecureContext } from 'node:tls'
import { generateKeyRing, parseKeyRing, sealer } from '../../src/platform/crypto/seal.ts'
import { AppError } from '../../src/platform/errors/app-error.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { imapProvider } from '../../src/providers/imap/provider.ts'
import { type MailLogins, mailLogins, readOAuthProviders } from '../../src/providers/mail-oauth/index.ts'
import { smtpProvider } from '../../src/providers/smtp/index.ts'
import { type ConsentSite, googleSite, microsoftSite } from '../kit/accounts/consent.ts'
import { type Hosted, localGuard, serveHosted } from '../kit/accounts/hosted.ts'
import { testCaldav } from '../kit/calendars/caldav.ts'
import type { Databases } from '../kit/database/database.ts'
import { type Dovecot, startDovecot } from '../servers/dovecot.ts'
import { freePort } from '../servers/free-port.ts'
import type { Google } from '../servers/google.ts'
import { ISSUER_CLIENT, type Issuer, startIssuer } from '../servers/issuer.ts'
import type { Microsoft } from '../servers/microsoft.ts'
import { microsoftAt } from '../servers/microsoft-mailbox.ts'
import { type Radicale, startRadicale } from '../servers/radicale.ts'
import { type SmtpSink, startSmtpSink } from '../servers/smtp.ts'

/** The mailbox of the user at the mail server, and at each provider. */
export const MAILBOX = { email: 'ada@posthorn.test', password: 'correct horse', smtpPassword: 'battery staple' }
export const GOOGLE_USER = 'ada@gmail.com'
export const OTHER_GOOGLE_USER = 'grace@gmail.com'
export const MICROSOFT_USER = 'ada@outlook.com'
/** Opens `SHARED_MAILBOX`, and not `OTHER_MAILBOX` of the same company. */
export const COMPANY_USER = 'ada@acme.example'
export const SHARED_MAILBOX = 'support@acme.example'
export const OTHER_MAILBOX = 'board@acme.example'
/** Grants everything but calendars, as an older consent did. */
export const EARLIER_USER = 'mary@gmail.com'
/** Does not grant access to the mailbox. */
export const RELUCTANT_USER = 'eve@gmail.com'
/** Mailboxes at a mail server whose users sign in at an issuer, which also accepts a password. */
export const ISSUER_USER = 'ada@fabrikam.test'
export const OTHER_ISSUER_USER = 'grace@fabrikam.test'
/** Its issuer shows its pages, and then does not respond to the service. */
export const SILENT_ISSUER_USER = 'ada@silent.test'
export const ISSUER_NAME = 'Fabrikam Mail'
export const APP_NAME = 'Northwind'

/** The servers around the service. They are the same for every look of the pages. */
export interface HostedServers {
  /** Accepts the tokens of the issuer, too. */
  dovecot: Dovecot
  issuer: Issuer
  /** Accepts another password than the mailbox. */
  smtp: SmtpSink
  radicale: Radicale
  sites: { gmail: ConsentSite & { server: Google }; microsoft: ConsentSite & { server: Microsoft } }
  /** Where users return to: a page that says so. */
  redirectUri: string
  /** A port on localhost that nothing listens on. */
  closedPort: number
  close(): Promise<void>
}

export async function startHostedServers(): Promise<HostedServers> {
  const issuer = await startIssuer({ redirectUris: [] })
  const [dovecot, smtp, radicale, gmail, microsoft, application, closedPort] = await Promise.all([
    startDovecot({ oauth: issuer }),
    startSmtpSink(),
    startRadicale(),
    googleSite(),
    microsoftSite(),
    startApplicationPage(),
    freePort(),
  ])
  await dovecot.addUser(MAILBOX.email, MAILBOX.password)
  for (const user of [ISSUER_USER, OTHER_ISSUER_USER]) await dovecot.addUser(user, MAILBOX.password)
  smtp.behave({ password: MAILBOX.smtpPassword })
  await radicale.addUser(MAILBOX.email, MAILBOX.password)
  await radicale.makeCalendar(MAILBOX.email, 'work')
  await dovecot.doveadm('mailbox', 'create', '-u', MAILBOX.email, 'Work', 'Projekte/Größe')
  for (const user of [GOOGLE_USER, OTHER_GOOGLE_USER, EARLIER_USER, RELUCTANT_USER]) gmail.server.addUser(user)
  microsoft.server.addUser(MICROSOFT_USER)
  for (const user of [COMPANY_USER, SHARED_MAILBOX, OTHER_MAILBOX]) {
    microsoft.server.addUser(user, { tenant: '72f988bf-86f1-41af-91ab-2d7cd011db47' })
  }
  microsoft.server.applications.share(SHARED_MAILBOX, COMPANY_USER, 'send')
  gmail.server.withholdScopes(RELUCTANT_USER, [gmail.mailScope])
  const calendars = gmail.login.scopes.filter((scope) => scope.includes('calendar'))
  gmail.server.withholdScopes(EARLIER_USER, calendars)
  const { port } = application.address() as AddressInfo
  return {
    dovecot,
    issuer,
    smtp,
    radicale,
    sites: { gmail, microsoft },
    closedPort,
    redirectUri: `http://127.0.0.1:${port}/done?own=1`,
    async close() {
      application.close()
      application.closeAllConnections()
      await Promise.all([dovecot.stop(), smtp.close(), radicale.stop(), gmail.server.close(), microsoft.server.close()])
      await issuer.close()
    },
  }
}

/** Two sign-ins for mail servers, as an operator lists them in OAUTH_PROVIDERS. */
function listedSignIns({ issuer, dovecot, radicale, closedPort }: HostedServers): MailLogins {
  const fabrikam = {
    label: ISSUER_NAME,
    ...ISSUER_CLIENT,
    authorizationUrl: `${issuer.url}/auth`,
    tokenUrl: `${issuer.url}/token`,
    userinfoUrl: `${issuer.url}/me`,
    scopes: ['openid', 'email', 'offline_access'],
    authorizationParameters: { prompt: 'consent' },
    domains: ['fabrikam.test'],
    imap: { host: 'localhost', port: dovecot.imapsPort },
    smtp: { host: 'localhost', port: closedPort },
    caldavUrl: radicale.url,
  }
  const silent = { ...fabrikam, tokenUrl: `http://127.0.0.1:${closedPort}/token`, domains: ['silent.test'] }
  const { providers, errors } = readOAuthProviders(JSON.stringify({ fabrikam, silent }))
  if (errors.length > 0) throw new Error(errors.join())
  return mailLogins(providers, { clock: systemClock, withContacts: false })
}

async function startApplicationPage(): Promise<Server> {
  const application = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>App</title><h1>Welcome back</h1>'),
  )
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
  return application
}

/** One service with both providers, and the same service after its operator removed them. */
export interface HostedStage extends HostedServers {
  hosted: Hosted
  withoutProviders: Hosted
  /** Makes every session that exists expire. */
  expireSessions(): void
  /** While true, the licence allows no further mailbox. */
  isLicenceFull: boolean
  close(): Promise<void>
}

export async function openHostedStage(open: Databases, servers: HostedServers): Promise<HostedStage> {
  const db = await open()
  let aheadMs = 0
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
  const licence = {
    async check() {
      if (stage.isLicenceFull) throw new AppError('licence_limit')
    },
  }
  const { mail, sentCopies } = imapProvider({ guard: localGuard, clock: systemClock })
  // The form shows what is wrong with the certificate. A sign-in of OAUTH_PROVIDERS never accepts one that cannot be verified.
  const tlsContext = () => createSecureContext({ ca: servers.dovecot.certificate })
  const { mail: trusting } = imapProvider({ guard: localGuard, clock: systemClock, tlsContext })
  const smtp = smtpProvider({ guard: localGuard, copies: sentCopies })
  const { gmail, microsoft } = servers.sites
  const caldav = testCaldav({ hosts: { localhost: '127.0.0.1' } })
  const further = { smtp, caldav: caldav.provider }
  const { mail: outlook } = microsoftAt(microsoft.server.url)
  const shared = {
    clock,
    licence,
    imap: mail,
    mail: (provider: string) => ({ microsoft: outlook, imap: trusting })[provider],
    further,
    // Both services open what the other one has sealed.
    accounts: { licence, sealer: sealer(parseKeyRing(generateKeyRing())) },
    authScreen: { name: APP_NAME },
    contactsEnabled: true,
  }
  const logins = { gmail: gmail.login, microsoft: microsoft.login, mail: listedSignIns(servers) }
  const hosted = await serveHosted(db, { ...shared, logins })
  const withoutProviders = await serveHosted(db, shared)
  for (const { provider, server } of [gmail, microsoft]) {
    server.allowRedirect(`${hosted.url}/providers/${provider}/callback`)
  }
  for (const name of logins.mail.keys()) servers.issuer.allowRedirect(`${hosted.url}/providers/${name}/callback`)
  const stage: HostedStage = {
    ...servers,
    hosted,
    withoutProviders,
    isLicenceFull: false,
    expireSessions() {
      aheadMs += 25 * 3_600_000
    },
    async close() {
      await withoutProviders.close()
      await hosted.close()
      await caldav.close()
    },
  }
  return stage
}
