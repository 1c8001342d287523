import { expect } from 'vitest'
import type { ErrorCode } from '../../src/platform/errors/app-error.ts'
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

/** What is stored of a session: nothing was done in it, it is in use, or it connected the mailbox. */
const UNUSED = { status: 'pending', accountId: null, failureCode: null }
const OPEN = { ...UNUSED, status: 'started' }
const COMPLETED = { status: 'completed', provider: 'imap', email: ISSUER_USER, failureCode: null }
const storedFailure = (failureCode: ErrorCode) => ({ status: 'failed', accountId: null, failureCode })

const USER = { provider: 'imap', email: ISSUER_USER, customUserId: 'user of an issuer' }

/** The sign-ins of OAUTH_PROVIDERS, in place of the password of a mail server. */
export const ISSUER_STATES: readonly HostedState[] = [
  {
    name: 'sign-in at an issuer',
    reach: (visit) => openMailSignIn(visit),
    shows: (t) => t('consent.usePassword'),
    ends: CANCELLED,
    session: OPEN,
  },
  {
    name: 'password in place of the sign-in at an issuer',
    reach: (visit) => choosePassword(visit),
    shows: (t) => t('imap.promise'),
    ends: CANCELLED,
    session: OPEN,
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
    session: COMPLETED,
    checkAccess({ settings, secrets }, { dovecot }) {
      expect([settings.oauth, secrets]).toEqual([undefined, { password: MAILBOX.password }])
      expect(settings.imap).toMatchObject({ host: 'localhost', port: dovecot.imapsPort, username: ISSUER_USER })
    },
  },
  {
    name: 'another address in place of the sign-in at an issuer',
    async reach(visit) {
      await openMailSignIn(visit)
      await visit.page.getByRole('button', { name: visit.t('imap.back') }).click()
    },
    shows: (t) => t('start.lead'),
    ends: CANCELLED,
    session: OPEN,
  },
  {
    name: 'success at an issuer',
    async reach(visit) {
      await openMailSignIn(visit)
      await signInAtIssuer(visit, ISSUER_USER)
    },
    shows: () => 'Welcome back',
    ends: connected('imap', ISSUER_USER),
    session: COMPLETED,
    checkAccess({ settings, secrets }, { dovecot, radicale, closedPort }) {
      expect([settings.oauth, secrets]).toEqual([{ provider: 'fabrikam' }, {}])
      expect(settings.imap).toMatchObject({ host: 'localhost', port: dovecot.imapsPort, username: ISSUER_USER })
      expect(settings.smtp).toMatchObject({ host: 'localhost', port: closedPort, username: ISSUER_USER })
      expect(settings.caldav).toEqual({ url: radicale.url, username: ISSUER_USER })
    },
  },
  {
    name: 'denied at an issuer',
    async reach(visit) {
      await openMailSignIn(visit)
      await goToIssuer(visit)
      await visit.page.getByRole('link', { name: 'Cancel' }).click()
    },
    shows: (t) => t('consent_denied.title'),
    status: 400,
    ends: failed('consent_denied'),
    session: storedFailure('consent_denied'),
  },
  {
    name: 'an issuer that cannot be reached',
    async reach(visit) {
      await openMailSignIn(visit, SILENT_ISSUER_USER)
      await signInAtIssuer(visit, SILENT_ISSUER_USER)
    },
    shows: (t) => t('consent_failed.title'),
    status: 400,
    ends: failed('consent_failed'),
    session: storedFailure('consent_failed'),
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
    status: 400,
    ends: failed('mailbox_refused'),
    session: storedFailure('mailbox_refused'),
  },
  {
    name: 'reconnect at an issuer',
    reach: (visit) => reconnect(visit),
    shows: (t) => t('reconnect.title'),
    ends: CANCELLED,
    session: UNUSED,
  },
  {
    name: 'another address at the issuer than the one to reconnect',
    async reach(visit) {
      await reconnect(visit)
      await signInAtIssuer(visit, OTHER_ISSUER_USER)
    },
    shows: (t) => t('mailbox_mismatch.text', { email: ISSUER_USER }),
    status: 400,
    ends: failed('mailbox_mismatch'),
    session: storedFailure('mailbox_mismatch'),
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
    session: UNUSED,
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
