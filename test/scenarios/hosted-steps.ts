import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import type { Translate } from '../../src/ui/hosted/index.ts'
import { imapForm } from '../kit/accounts/hosted.ts'
import { COMPANY_USER, type HostedStage, ISSUER_NAME, ISSUER_USER, MAILBOX } from './hosted-stage.ts'

/** One browser page of one user. */
export interface Visit {
  page: Page
  stage: HostedStage
  t: Translate
  /** The session whose link the user has. Set by `link`. */
  code: string
  /** Keeps the page from leaving for this origin until it was inspected. */
  stayAwayFrom(origin: string): Promise<void>
}

/** The state that the application gives to every link. */
export const APPLICATION_STATE = 'from the app'
export const GOOGLE = { provider: 'Google' }

/** Creates a session of a new user in the visitor's language. Returns its link, with a state that the application chose. */
export async function link(visit: Visit, body: Record<string, unknown> = {}): Promise<string> {
  const { hosted, redirectUri } = visit.stage
  // Google gives no refresh token again without it, and the service would then ask twice.
  const forceConsent = true
  const user = { customUserId: randomUUID(), locale: visit.t.language, ...body }
  const { code, authUrl } = await hosted.session({ redirectUri, forceConsent, ...user })
  visit.code = code
  return `${authUrl}&${new URLSearchParams({ state: APPLICATION_STATE })}`
}

export async function open(visit: Visit, body: Record<string, unknown> = {}): Promise<void> {
  await visit.page.goto(await link(visit, body))
}

export async function goTo({ page, stage }: Visit, path: string): Promise<void> {
  await page.goto(stage.hosted.url + path)
}

export async function enterAddress({ page, t }: Visit, email: string): Promise<void> {
  await page.getByLabel(t('email.label')).fill(email)
  await page.getByRole('button', { name: t('start.continue'), exact: true }).click()
}

export async function openConsent(visit: Visit, body: Record<string, unknown> = {}): Promise<void> {
  await open(visit, { provider: 'gmail', ...body })
  await visit.page.getByRole('button', { name: visit.t('start.choose', GOOGLE) }).click()
}

/** Clicks this user's button on the page of the fake provider, which is in English. */
export async function consentAs({ page }: Visit, user: string): Promise<void> {
  await page.getByRole('button', { name: user }).click()
}

export async function denyConsent(visit: Visit): Promise<void> {
  await openConsent(visit)
  await visit.page.getByText('Sign in to Posthorn').waitFor()
  await visit.page.getByRole('link', { name: 'Cancel' }).click()
}

/** Enters an address whose domain has a sign-in at an issuer. */
export async function openMailSignIn(visit: Visit, email = ISSUER_USER): Promise<void> {
  await open(visit)
  await enterAddress(visit, email)
}

/** Leads from the page of the service to the issuer, whose pages are in English. */
export async function goToIssuer({ page, t }: Visit): Promise<void> {
  // Its style names a font on the internet.
  await page.route('https://fonts.googleapis.com/**', (route) => route.abort())
  await page.getByRole('button', { name: t('start.choose', { provider: ISSUER_NAME }) }).click()
}

/** Signs in at the issuer as this user, whatever the password, and consents. */
export async function signInAtIssuer(visit: Visit, user: string): Promise<void> {
  const { page } = visit
  await goToIssuer(visit)
  await page.getByPlaceholder('Enter any login').fill(user)
  await page.getByPlaceholder('and password').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
}

/** Signs in at Microsoft, and enters addresses on the page of shared mailboxes, if any. */
export async function chooseShared(visit: Visit, addresses: readonly string[] = []): Promise<void> {
  const { page, t } = visit
  await open(visit, { provider: 'microsoft', sharedMailboxes: true })
  await page.getByRole('button', { name: t('start.choose', { provider: 'Microsoft' }) }).click()
  await consentAs(visit, COMPANY_USER)
  if (addresses.length === 0) return
  await page.getByLabel(t('mailboxes.label'), { exact: true }).fill(addresses.join('\n'))
  await connectShared(visit)
}

export async function connectShared({ page, t }: Visit): Promise<void> {
  await page.getByRole('button', { name: t('mailboxes.connect'), exact: true }).click()
}

/** The form for a mail server that the service does not know. */
export async function openImap(visit: Visit): Promise<void> {
  await open(visit, { provider: 'imap', email: MAILBOX.email })
}

/** The form of a mailbox that is connected already. */
export async function openReconnect(visit: Visit): Promise<void> {
  const user = { provider: 'imap', email: MAILBOX.email, customUserId: 'user of a reconnect' }
  await connectMailbox(visit, user)
  await open(visit, user)
}

export async function openSettings({ page }: Visit): Promise<void> {
  const closed = page.locator('details:not([open]) > summary')
  if ((await closed.count()) > 0) await closed.first().click()
}

export async function fillServer(
  visit: Visit,
  entered: { password?: string; port?: number | string; accept?: boolean } = {},
): Promise<void> {
  const { page, t, stage } = visit
  const { password = MAILBOX.password, port = stage.dovecot.imapsPort, accept = true } = entered
  await page.getByLabel(t('password.label'), { exact: true }).fill(password)
  await openSettings(visit)
  await page.getByLabel(t('host.label'), { exact: true }).fill('localhost')
  await page.getByLabel(t('port.label'), { exact: true }).fill(String(port))
  if (accept) await page.getByLabel(t('certificate.label')).check()
}

/** In the open settings. */
export async function fillSmtp({ page, t, stage }: Visit, password: string): Promise<void> {
  await page.getByLabel(t('smtp.host'), { exact: true }).fill('localhost')
  await page.getByLabel(t('smtp.port'), { exact: true }).fill(String(stage.smtp.port))
  await page.getByLabel(t('smtp.password'), { exact: true }).fill(password)
}

/** In the open settings. */
export async function fillCalendar({ page, t, stage }: Visit, password = ''): Promise<void> {
  await page.getByLabel(t('caldav.url'), { exact: true }).fill(stage.radicale.url.replace('127.0.0.1', 'localhost'))
  await page.getByLabel(t('caldav.password'), { exact: true }).fill(password)
}

export async function submit({ page, t }: Visit): Promise<void> {
  await page.getByRole('button', { name: t('imap.connect') }).click()
}

/** Connects the mailbox without the browser. Returns the link that was used. */
export async function connectMailbox(visit: Visit, body: Record<string, unknown> = {}): Promise<string> {
  const { hosted, dovecot } = visit.stage
  const href = await link(visit, body)
  const form = imapForm(visit.code, await hosted.open(href), {
    email: MAILBOX.email,
    username: MAILBOX.email,
    password: MAILBOX.password,
    host: 'localhost',
    port: String(dovecot.imapsPort),
    allowSelfSigned: 'true',
  })
  const response = await hosted.call('/auth/authorize/imap', form)
  if (response.status !== 200) throw new Error(`Connecting returned ${response.status}: ${await response.text()}`)
  return href
}
