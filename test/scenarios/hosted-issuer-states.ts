import { ISSUER_USER, MAILBOX, OTHER_ISSUER_USER, SILENT_ISSUER_USER } from './hosted-stage.ts'
import { CANCELLED, connected, failed, type HostedState } from './hosted-state.ts'
import {
  goToIssuer,
  link,
  open,
  openMailSignIn,
  openSettings,
  signInAtIssuer,
  submit,
  type Visit,
} from './hosted-steps.ts'

const USER = { provider: 'imap', email: ISSUER_USER, customUserId: 'user of an issuer' }

/** The sign-ins of OAUTH_PROVIDERS, in place of the password of a mail server. */
export const ISSUER_STATES: readonly HostedState[] = [
  {
    name: 'sign-in at an issuer',
    reach: (visit) => openMailSignIn(visit),
    shows: (t) => t('consent.usePassword'),
    ends: CANCELLED,
  },
  {
    name: 'password in place of the sign-in at an issuer',
    reach: (visit) => choosePassword(visit),
    shows: (t) => t('imap.promise'),
    ends: CANCELLED,
  },
  {
    name: 'success with a password in place of the sign-in at an issuer',
    async reach(visit) {
      await choosePassword(visit)
      await visit.page.getByLabel(visit.t('password.label'), { exact: true }).fill(MAILBOX.password)
      await openSettings(visit)
      await visit.page.getByLabel(visit.t('certificate.label')).check()
      await submit(visit)
    },
    shows: () => 'Welcome back',
    ends: connected('imap', ISSUER_USER),
  },
  {
    name: 'another address in place of the sign-in at an issuer',
    async reach(visit) {
      await openMailSignIn(visit)
      await visit.page.getByRole('button', { name: visit.t('imap.back') }).click()
    },
    shows: (t) => t('start.lead'),
    ends: CANCELLED,
  },
  {
    name: 'success at an issuer',
    async reach(visit) {
      await openMailSignIn(visit)
      await signInAtIssuer(visit, ISSUER_USER)
    },
    shows: () => 'Welcome back',
    ends: connected('imap', ISSUER_USER),
  },
  {
    name: 'denied at an issuer',
    async reach(visit) {
      await openMailSignIn(visit)
      await goToIssuer(visit)
      await visit.page.getByRole('link', { name: 'Cancel' }).click()
    },
    shows: (t) => t('consent_denied.title'),
    ends: failed('consent_denied'),
  },
  {
    name: 'an issuer that cannot be reached',
    async reach(visit) {
      await openMailSignIn(visit, SILENT_ISSUER_USER)
      await signInAtIssuer(visit, SILENT_ISSUER_USER)
    },
    shows: (t) => t('consent_failed.title'),
    ends: failed('consent_failed'),
  },
  {
    name: 'a token that the mail server refuses',
    async reach(visit) {
      const { issuer } = visit.stage
      await openMailSignIn(visit)
      issuer.beforeCheck = () => issuer.endAccessTokens(ISSUER_USER)
      try {
        await signInAtIssuer(visit, ISSUER_USER)
        await visit.page.getByRole('heading', { name: visit.t('mailbox_refused.title') }).waitFor()
      } finally {
        issuer.beforeCheck = async () => {}
      }
    },
    shows: (t) => t('mailbox_refused.title'),
    ends: failed('mailbox_refused'),
  },
  {
    name: 'reconnect at an issuer',
    reach: (visit) => reconnect(visit),
    shows: (t) => t('reconnect.title'),
    ends: CANCELLED,
  },
  {
    name: 'another address at the issuer than the one to reconnect',
    async reach(visit) {
      await reconnect(visit)
      await signInAtIssuer(visit, OTHER_ISSUER_USER)
    },
    shows: (t) => t('mailbox_mismatch.text', { email: ISSUER_USER }),
    ends: failed('mailbox_mismatch'),
  },
  {
    name: 'reconnect after the operator removed the issuer',
    async reach(visit) {
      const { hosted, withoutProviders } = visit.stage
      await connectAtIssuer(visit)
      await visit.page.goto((await link(visit, USER)).replace(hosted.url, withoutProviders.url))
    },
    shows: (t) => t('reconnect.text'),
    ends: CANCELLED,
  },
]

async function choosePassword(visit: Visit): Promise<void> {
  await openMailSignIn(visit)
  await visit.page.getByRole('button', { name: visit.t('consent.usePassword') }).click()
  await visit.page.getByText(visit.t('imap.promise')).waitFor()
}

async function connectAtIssuer(visit: Visit): Promise<void> {
  await open(visit, USER)
  await signInAtIssuer(visit, ISSUER_USER)
  await visit.page.getByText('Welcome back').waitFor()
}

/** The link for a mailbox that was connected at the issuer. */
async function reconnect(visit: Visit): Promise<void> {
  await connectAtIssuer(visit)
  await visit.page.context().clearCookies()
  await open(visit, USER)
}
