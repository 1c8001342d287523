import { MAILBOX } from './hosted-stage.ts'
import { CANCELLED, connected, type HostedState, KNOWN } from './hosted-state.ts'
import {
  enterAddress,
  fillCalendar,
  fillServer,
  fillSmtp,
  open,
  openImap,
  openReconnect,
  openSettings,
  submit,
} from './hosted-steps.ts'

/** The pages of a mailbox at a mail server. */
export const IMAP_STATES: readonly HostedState[] = [
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
    shows: (t) => t('problem.certificate_self_signed.text'),
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
    name: 'wrong password of the calendar',
    async reach(visit) {
      await openImap(visit)
      await fillServer(visit)
      await fillSmtp(visit, MAILBOX.smtpPassword)
      await fillCalendar(visit, 'wrong')
      await submit(visit)
    },
    shows: (t) => t('caldav_auth_failed.title'),
    ends: CANCELLED,
  },
  {
    name: 'success with an SMTP server and a calendar',
    async reach(visit) {
      await openImap(visit)
      await fillServer(visit)
      await fillSmtp(visit, MAILBOX.smtpPassword)
      await fillCalendar(visit)
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
]
