import { imapForm } from '../kit/accounts/hosted.ts'
import { IMAP_STATES } from './hosted-imap-states.ts'
import { ISSUER_STATES } from './hosted-issuer-states.ts'
import { SHARED_STATES } from './hosted-shared-states.ts'
import {
  APP_NAME,
  EARLIER_USER,
  GOOGLE_USER,
  MAILBOX,
  MICROSOFT_USER,
  OTHER_GOOGLE_USER,
  RELUCTANT_USER,
} from './hosted-stage.ts'
import { CANCELLED, connected, failed, type HostedState, KNOWN } from './hosted-state.ts'
import {
  connectMailbox,
  consentAs,
  denyConsent,
  enterAddress,
  fillServer,
  GOOGLE,
  goTo,
  link,
  open,
  openConsent,
  openImap,
  submit,
} from './hosted-steps.ts'

const app = { app: APP_NAME }

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
  ...SHARED_STATES,
  {
    name: 'denied at the provider',
    reach: (visit) => denyConsent(visit),
    shows: (t) => t('consent_denied.title'),
    status: 400,
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
    status: 400,
    ends: 'nowhere',
  },
  {
    name: 'a permission withheld',
    async reach(visit) {
      await openConsent(visit)
      await consentAs(visit, RELUCTANT_USER)
    },
    shows: (t) => t('consent_incomplete.title'),
    status: 400,
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
    status: 400,
    ends: failed('consent_failed'),
  },
  {
    name: 'a provider that is no longer configured',
    async reach(visit) {
      const { hosted, withoutProviders } = visit.stage
      await visit.page.goto((await link(visit, { provider: 'gmail' })).replace(hosted.url, withoutProviders.url))
    },
    shows: (t) => t('consent_refused.title'),
    status: 400,
    ends: failed('consent_refused'),
  },
  ...IMAP_STATES,
  ...ISSUER_STATES,
  {
    name: 'reconnect that asks for more',
    async reach(visit) {
      const user = { provider: 'gmail', email: EARLIER_USER, customUserId: 'user of a reconnect' }
      await openConsent(visit, user)
      await consentAs(visit, EARLIER_USER)
      await visit.page.getByText('Welcome back').waitFor()
      await open(visit, user)
    },
    shows: (t) => t('grants.newTo', app),
    ends: CANCELLED,
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
    status: 400,
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
    status: 410,
    ends: { by: 'continue', provider: 'imap', email: MAILBOX.email },
  },
  {
    name: 'used link',
    async reach(visit) {
      await visit.page.goto(await connectMailbox(visit))
    },
    shows: (t) => t('session_used.title'),
    status: 410,
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
    status: 410,
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
    status: 429,
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
    status: 403,
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
    status: 403,
    ends: failed('csrf_failed'),
  },
  {
    name: 'unknown link',
    reach: (visit) => goTo(visit, '/auth/authorize?session=unknown'),
    shows: (t) => t('not_found.title'),
    status: 404,
    ends: 'nowhere',
  },
  {
    name: 'incomplete link',
    reach: (visit) => goTo(visit, '/auth/authorize'),
    shows: (t) => t('incomplete.title'),
    status: 400,
    ends: 'nowhere',
  },
  {
    name: 'a form opened as a page',
    reach: (visit) => goTo(visit, '/auth/authorize/imap'),
    shows: (t) => t('wrong_method.title'),
    status: 405,
    ends: 'nowhere',
  },
  {
    name: 'unknown sign-in',
    reach: (visit) => goTo(visit, '/providers/gmail/callback?state=unknown&code=1'),
    shows: (t) => t('consent_unknown.title'),
    status: 400,
    ends: 'nowhere',
  },
  {
    name: 'unknown page of the flow',
    reach: (visit) => goTo(visit, '/auth/nothing'),
    shows: (t) => t('route_not_found.text'),
    status: 404,
    ends: 'nowhere',
  },
  {
    name: 'unknown page',
    reach: (visit) => goTo(visit, '/nothing/here'),
    shows: (t) => t('site.notFound'),
    status: 404,
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
