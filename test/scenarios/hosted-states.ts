import type { ErrorCode } from '../../src/lib/errors.ts'
import type { Translate } from '../../src/ui/hosted/index.ts'
import { imapForm } from '../kit/hosted.ts'
import { APP_NAME, GOOGLE_USER, MAILBOX, MICROSOFT_USER, OTHER_GOOGLE_USER, RELUCTANT_USER } from './hosted-stage.ts'
import {
  APPLICATION_STATE,
  connectMailbox,
  consentAs,
  denyConsent,
  enterAddress,
  fillServer,
  fillSmtp,
  GOOGLE,
  goTo,
  link,
  open,
  openConsent,
  openImap,
  openReconnect,
  openSettings,
  submit,
  type Visit,
} from './hosted-steps.ts'

/** A page of the flow, and how the user leaves it. */
export interface HostedState {
  name: string
  /** Brings the browser to the state, from nothing. */
  reach(visit: Visit): Promise<void>
  /** A text that must then be visible. */
  shows(t: Translate): string
  /** The page speaks English only. */
  isEnglish?: boolean
  ends: Ending
}

/**
 * Where the user gets from a state: to the redirect URI with this error by the link with this text; to the redirect URI with the connected
 * mailbox, by itself or by a link; or nowhere: the page is shown for an instant, or belongs to no session that is known.
 */
type Ending =
  | { by: 'cancel' | 'return'; error: ErrorCode }
  | { by: 'itself' | 'continue'; provider: string; email: string }
  | 'nowhere'

const CANCELLED = { by: 'cancel', error: 'consent_denied' } as const
const failed = (error: ErrorCode) => ({ by: 'return', error }) as const
const connected = (provider: string, email: string) => ({ by: 'itself', provider, email }) as const

const app = { app: APP_NAME }
/** Its servers are in the service's table. */
const KNOWN = 'ada@posteo.de'

/** Every page of the hosted flow, and the pages around it. The order matters only for those that change the stage. */
export const HOSTED_STATES: readonly HostedState[] = [
  {
    name: 'start',
    reach: (visit) => open(visit),
    shows: (t) => t('start.titleTo', app),
    ends: CANCELLED,
  },
  {
    name: 'start, invalid address',
    async reach(visit) {
      await open(visit)
      await enterAddress(visit, 'ada at home')
    },
    shows: (t) => t('invalid.address'),
    ends: CANCELLED,
  },
  {
    name: 'consent',
    reach: (visit) => open(visit, { provider: 'gmail' }),
    shows: (t) => t('consent.lead', GOOGLE),
    ends: CANCELLED,
  },
  {
    name: 'consent for an address',
    reach: (visit) => open(visit, { provider: 'microsoft', email: MICROSOFT_USER }),
    shows: () => MICROSOFT_USER,
    ends: CANCELLED,
  },
  {
    name: 'on the way to the provider',
    async reach(visit) {
      await visit.stayAwayFrom(new URL(visit.stage.sites.gmail.server.url).origin)
      await open(visit)
      await enterAddress(visit, GOOGLE_USER)
    },
    shows: (t) => t('continue.text'),
    ends: 'nowhere',
  },
  {
    name: 'success at Google',
    async reach(visit) {
      await open(visit)
      await enterAddress(visit, GOOGLE_USER)
      await consentAs(visit, GOOGLE_USER)
    },
    shows: () => 'Welcome back',
    ends: connected('gmail', GOOGLE_USER),
  },
  {
    name: 'success at Microsoft',
    async reach(visit) {
      await open(visit)
      await visit.page.getByRole('button', { name: visit.t('start.choose', { provider: 'Microsoft' }) }).click()
      await consentAs(visit, MICROSOFT_USER)
    },
    shows: () => 'Welcome back',
    ends: connected('microsoft', MICROSOFT_USER),
  },
  {
    name: 'denied at the provider',
    reach: (visit) => denyConsent(visit),
    shows: (t) => t('consent_denied.title'),
    ends: failed('consent_denied'),
  },
  {
    name: 'a callback opened again',
    async reach(visit) {
      await denyConsent(visit)
      await visit.page.getByText(visit.t('consent_denied.title')).waitFor()
      await visit.page.reload()
    },
    shows: (t) => t('consent_used.title'),
    ends: 'nowhere',
  },
  {
    name: 'a permission withheld',
    async reach(visit) {
      await openConsent(visit)
      await consentAs(visit, RELUCTANT_USER)
    },
    shows: (t) => t('consent_incomplete.title'),
    ends: failed('consent_incomplete'),
  },
  {
    name: 'the provider fails',
    async reach(visit) {
      await openConsent(visit)
      visit.stage.sites.gmail.server.fail({ as: 'unavailable', on: /POST \/token/ })
      await consentAs(visit, GOOGLE_USER)
    },
    shows: (t) => t('consent_failed.title'),
    ends: failed('consent_failed'),
  },
  {
    name: 'a provider that is no longer configured',
    async reach(visit) {
      const { hosted, withoutProviders } = visit.stage
      await visit.page.goto((await link(visit, { provider: 'gmail' })).replace(hosted.url, withoutProviders.url))
    },
    shows: (t) => t('consent_refused.title'),
    ends: failed('consent_refused'),
  },
  {
    name: 'known server',
    async reach(visit) {
      await open(visit)
      await enterAddress(visit, KNOWN)
    },
    shows: () => 'posteo.de',
    ends: CANCELLED,
  },
  {
    name: 'known server, settings open',
    async reach(visit) {
      await open(visit, { provider: 'imap', email: KNOWN })
      await openSettings(visit)
    },
    shows: (t) => t('certificate.hint'),
    ends: CANCELLED,
  },
  {
    name: 'unknown server',
    async reach(visit) {
      await open(visit)
      await enterAddress(visit, MAILBOX.email)
    },
    shows: (t) => t('imap.lead'),
    ends: CANCELLED,
  },
  {
    name: 'app password',
    reach: (visit) => open(visit, { provider: 'imap', email: 'ada@icloud.com' }),
    shows: (t) => t('requirement.appPasswordHere', { provider: 'iCloud Mail' }),
    ends: CANCELLED,
  },
  {
    name: 'guide to an app password',
    async reach(visit) {
      await open(visit, { provider: 'imap', email: 'ada@yahoo.com' })
      await visit.page.getByText(visit.t('guide.appPassword')).click()
    },
    shows: (t) => t('guide.paste'),
    ends: CANCELLED,
  },
  {
    name: 'guide to IMAP access',
    async reach(visit) {
      await open(visit, { provider: 'imap', email: 'ada@gmx.de' })
      await visit.page.getByText(visit.t('guide.imap')).click()
    },
    shows: (t) => t('requirement.imapEnabled', { provider: 'GMX' }),
    ends: CANCELLED,
  },
  {
    name: 'no password works, sign-in at the provider',
    async reach(visit) {
      await open(visit)
      await visit.page.getByRole('button', { name: visit.t('start.otherProvider') }).click()
      await enterAddress(visit, 'ada@hotmail.com')
    },
    shows: (t) => t('noPasswords.signIn', { provider: 'Outlook' }),
    ends: CANCELLED,
  },
  {
    name: 'no password works',
    reach: (visit) => open(visit, { provider: 'imap', email: 'ada@hotmail.com' }),
    shows: (t) => t('noPasswords.text', { provider: 'Outlook' }),
    ends: { by: 'return', error: 'consent_denied' },
  },
  {
    name: 'only through a bridge',
    reach: (visit) => open(visit, { provider: 'imap', email: 'ada@proton.me' }),
    shows: (t) => t('bridge.title'),
    ends: { by: 'return', error: 'consent_denied' },
  },
  {
    name: 'invalid settings',
    async reach(visit) {
      await openImap(visit)
      await fillServer(visit, { password: '', port: 'x' })
      await submit(visit)
    },
    shows: (t) => t('invalid.summaryMany', { count: '2' }),
    ends: CANCELLED,
  },
  {
    name: 'wrong password',
    async reach(visit) {
      await openImap(visit)
      await fillServer(visit, { password: 'wrong' })
      await submit(visit)
    },
    shows: (t) => t('imap_auth_failed.title'),
    ends: CANCELLED,
  },
  {
    name: 'unreachable server',
    async reach(visit) {
      await openImap(visit)
      await fillServer(visit, { port: visit.stage.closedPort })
      await submit(visit)
    },
    shows: (t) => t('imap_unreachable.title'),
    ends: CANCELLED,
  },
  {
    name: 'invalid certificate',
    async reach(visit) {
      await openImap(visit)
      await fillServer(visit, { accept: false })
      await submit(visit)
    },
    shows: (t) => t('imap_tls.title'),
    ends: CANCELLED,
  },
  {
    name: 'wrong password of the SMTP server',
    async reach(visit) {
      await openImap(visit)
      await fillServer(visit)
      await fillSmtp(visit, 'wrong')
      await submit(visit)
    },
    shows: (t) => t('smtp_auth_failed.title'),
    ends: CANCELLED,
  },
  {
    name: 'invalid SMTP settings',
    async reach(visit) {
      await openImap(visit)
      await fillServer(visit)
      await fillSmtp(visit, '')
      await visit.page.getByLabel(visit.t('smtp.host'), { exact: true }).fill('https://x/')
      await submit(visit)
    },
    shows: (t) => t('invalid.summary'),
    ends: CANCELLED,
  },
  {
    name: 'success with an SMTP server',
    async reach(visit) {
      await openImap(visit)
      await fillServer(visit)
      await fillSmtp(visit, MAILBOX.smtpPassword)
      await submit(visit)
    },
    shows: () => 'Welcome back',
    ends: connected('imap', MAILBOX.email),
  },
  {
    name: 'choice of a folder',
    async reach(visit) {
      await openImap(visit)
      await fillServer(visit)
      await visit.page.getByRole('button', { name: visit.t('imap.chooseFolder') }).click()
    },
    shows: (t) => t('folders.lead'),
    ends: CANCELLED,
  },
  {
    name: 'success at a mail server',
    async reach(visit) {
      await visit.stayAwayFrom(new URL(visit.stage.redirectUri).origin)
      await openImap(visit)
      await fillServer(visit)
      await submit(visit)
    },
    shows: (t) => t('connected.title'),
    ends: { by: 'continue', provider: 'imap', email: MAILBOX.email },
  },
  {
    name: 'reconnect',
    reach: (visit) => openReconnect(visit),
    shows: (t) => t('reconnect.text'),
    ends: CANCELLED,
  },
  {
    name: 'success of a reconnect',
    async reach(visit) {
      await openReconnect(visit)
      await visit.page.getByLabel(visit.t('password.label'), { exact: true }).fill(MAILBOX.password)
      await submit(visit)
    },
    shows: () => 'Welcome back',
    ends: connected('imap', MAILBOX.email),
  },
  {
    name: 'another mailbox than the one to reconnect',
    async reach(visit) {
      const user = { provider: 'gmail', email: GOOGLE_USER, customUserId: 'user of a reconnect' }
      for (const email of [GOOGLE_USER, OTHER_GOOGLE_USER]) {
        await openConsent(visit, user)
        await consentAs(visit, email)
        if (email === GOOGLE_USER) await visit.page.getByText('Welcome back').waitFor()
      }
    },
    shows: (t) => t('mailbox_mismatch.text', { email: GOOGLE_USER }),
    ends: failed('mailbox_mismatch'),
  },
  {
    name: 'submitted in another tab',
    async reach(visit) {
      await openImap(visit)
      await fillServer(visit)
      const other = { ...visit, page: await visit.page.context().newPage() }
      await other.page.goto(visit.page.url().replace(/&state=.*/, ''))
      await fillServer(other)
      await submit(other)
      await other.page.getByText('Welcome back').waitFor()
      await other.page.close()
      await submit(visit)
    },
    shows: (t) => t('session_used.title'),
    ends: { by: 'continue', provider: 'imap', email: MAILBOX.email },
  },
  {
    name: 'used link',
    async reach(visit) {
      await visit.page.goto(await connectMailbox(visit))
    },
    shows: (t) => t('session_used.title'),
    ends: failed('session_used'),
  },
  {
    name: 'expired link',
    async reach(visit) {
      const href = await link(visit)
      visit.stage.expireSessions()
      await visit.page.goto(href)
    },
    shows: (t) => t('session_expired.title'),
    ends: failed('session_expired'),
  },
  {
    name: 'too many failures',
    async reach(visit) {
      const { hosted, closedPort } = visit.stage
      await openImap(visit)
      const opened = await hosted.open(visit.page.url())
      const form = imapForm(visit.code, opened, { host: 'localhost', port: String(closedPort) })
      for (let count = 0; count < 10; count += 1) await hosted.call('/auth/authorize/imap', form)
      await fillServer(visit)
      await submit(visit)
    },
    shows: (t) => t('rate_limited.title'),
    ends: failed('rate_limited'),
  },
  {
    name: 'licence cap',
    async reach(visit) {
      await openImap(visit)
      await fillServer(visit)
      visit.stage.isLicenceFull = true
      await submit(visit)
      await visit.page.getByText(visit.t('licence_limit.title')).waitFor()
      visit.stage.isLicenceFull = false
    },
    shows: (t) => t('licence_limit.title'),
    ends: failed('licence_limit'),
  },
  {
    name: 'another browser',
    async reach(visit) {
      await open(visit)
      await visit.page.context().clearCookies()
      await enterAddress(visit, KNOWN)
    },
    shows: (t) => t('open_again.title'),
    ends: failed('csrf_failed'),
  },
  {
    name: 'unknown link',
    reach: (visit) => goTo(visit, '/auth/authorize?session=unknown'),
    shows: (t) => t('not_found.title'),
    ends: 'nowhere',
  },
  {
    name: 'incomplete link',
    reach: (visit) => goTo(visit, '/auth/authorize'),
    shows: (t) => t('incomplete.title'),
    ends: 'nowhere',
  },
  {
    name: 'a form opened as a page',
    reach: (visit) => goTo(visit, '/auth/authorize/imap'),
    shows: (t) => t('wrong_method.title'),
    ends: 'nowhere',
  },
  {
    name: 'unknown sign-in',
    reach: (visit) => goTo(visit, '/providers/gmail/callback?state=unknown&code=1'),
    shows: (t) => t('consent_unknown.title'),
    ends: 'nowhere',
  },
  {
    name: 'unknown page of the flow',
    reach: (visit) => goTo(visit, '/auth/nothing'),
    shows: (t) => t('route_not_found.text'),
    ends: 'nowhere',
  },
  {
    name: 'unknown page',
    reach: (visit) => goTo(visit, '/nothing/here'),
    shows: (t) => t('site.notFound'),
    ends: 'nowhere',
  },
  {
    name: 'landing page',
    reach: (visit) => goTo(visit, '/'),
    shows: (t) => t('site.title'),
    ends: 'nowhere',
  },
  {
    name: 'error codes',
    reach: (visit) => goTo(visit, '/docs/errors#rate_limited'),
    shows: () => 'rate_limited',
    isEnglish: true,
    ends: 'nowhere',
  },
]

/** Leaves the state by its link, if it has one. Returns the URL that the browser gets to, and the expected one. */
export async function leave(visit: Visit, { ends }: HostedState): Promise<{ reached: string; expected: string }> {
  const { page, t, stage, code } = visit
  if (ends === 'nowhere') {
    const ways = page.getByRole('link', { name: new RegExp(`^(${t('page.cancel')}|${t('page.returnTo', app)})$`) })
    return { reached: `${await ways.count()} links to the application`, expected: '0 links to the application' }
  }
  if (ends.by !== 'itself') {
    const names = { cancel: t('page.cancel'), return: t('page.returnTo', app), continue: t('start.continue') }
    await page.getByRole('link', { name: names[ends.by], exact: true }).click()
  }
  await page.getByText('Welcome back').waitFor()
  const result =
    'error' in ends
      ? { status: ends.error === 'consent_denied' ? 'cancelled' : 'error', error: ends.error }
      : {
          ...{ status: 'success', accountId: String((await stage.hosted.status(code)).accountId) },
          ...{ provider: ends.provider, email: ends.email },
        }
  const query = new URLSearchParams({ ...result, session: code, state: APPLICATION_STATE })
  return { reached: page.url(), expected: `${stage.redirectUri}&${query}` }
}
