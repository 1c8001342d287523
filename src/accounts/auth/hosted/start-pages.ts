import type { FastifyReply } from 'fastify'
import type { OAuthProvider, ProviderName } from '../../../providers/contract/index.ts'
import type { MailOAuthProvider } from '../../../providers/mail-oauth/index.ts'
import {
  consentPage,
  continuePage,
  emailPage,
  type FormErrors,
  NO_ERRORS,
  obstaclePage,
  type TextKey,
} from '../../../ui/hosted/index.ts'
import type { LinkedMailbox } from '../../index.ts'
import type { Detection } from '../detection/detection.ts'
import type { MailSignIns } from '../detection/mail-sign-ins.ts'
import { obstacleFor } from '../detection/obstacles.ts'
import type { ImapForm } from '../imap/form.ts'
import type { Consents } from '../oauth/consents.ts'
import type { SessionPage } from './access.ts'
import { grantsFor, mailServerGrants, newGrants } from './grants.ts'
import type { HostedPages } from './pages.ts'

export interface StartPagesDeps {
  pages: HostedPages
  imapForm: ImapForm
  consents: Consents
  detection: Detection
  mailSignIns: MailSignIns
  publicUrl: string
  /** Whether the service syncs contacts. */
  contactsEnabled: boolean
}

export const DISPLAY_NAMES: Readonly<Record<OAuthProvider, string>> = { gmail: 'Google', microsoft: 'Microsoft' }

/** With `provider`, the user chose it before, and the page asks for the address only. */
export function renderEmailPage(
  { pages, consents, publicUrl }: StartPagesDeps,
  reply: FastifyReply,
  page: SessionPage,
  email: string,
  { error, provider }: { error?: TextKey; provider?: ProviderName } = {},
): string {
  const { connectable } = consents
  const isChosen = provider !== undefined || page.session.providerFixed || connectable.length === 1
  return pages.render(reply, page, (context) => {
    const { t } = context
    const choices = (isChosen ? [] : connectable).map((name) => {
      const label = name === 'imap' ? t('start.otherProvider') : t('start.choose', { provider: DISPLAY_NAMES[name] })
      return { provider: name, label, mark: name === 'imap' ? undefined : DISPLAY_NAMES[name] }
    })
    const errors: FormErrors = error === undefined ? NO_ERRORS : { fields: { email: t(error) } }
    return emailPage(context, {
      action: formAction(publicUrl),
      session: page.code,
      state: page.state,
      email,
      choices,
      provider,
      errors,
    })
  })
}

/** The sign-in by OAuth for a mailbox of a mail server: the one that it was connected with, else the one of its address. */
export async function findMailSignIn(
  { mailSignIns }: Pick<StartPagesDeps, 'mailSignIns'>,
  email: string,
  mailbox: LinkedMailbox | undefined,
): Promise<MailOAuthProvider | undefined> {
  const name = mailbox?.settings.oauth?.provider
  return (name === undefined ? undefined : mailSignIns.get(name)) ?? mailSignIns.find(email)
}

interface SignInOptions {
  /** The mailbox that the session reconnects. */
  mailbox?: LinkedMailbox | undefined
  /** The user chose the password. */
  wantsForm?: boolean
  /** The user chose to enter a server. */
  isEditing?: boolean
}

/**
 * The sign-in by OAuth, the form for the mail server, or why no password can work. A user who chooses the password or enters a server has
 * seen the first page.
 */
export async function renderSignIn(
  deps: StartPagesDeps,
  reply: FastifyReply,
  page: SessionPage,
  email: string,
  { mailbox, isEditing = false, wantsForm = isEditing }: SignInOptions = {},
): Promise<string> {
  const { pages, imapForm, consents, detection, publicUrl } = deps
  const signIn = wantsForm ? undefined : await findMailSignIn(deps, email, mailbox)
  if (signIn !== undefined) return renderMailConsentPage(deps, reply, page, { signIn, email, mailbox })
  if (mailbox !== undefined) return imapForm.render(reply, page, { fields: { email }, mailbox, isEditing })
  const obstacle = isEditing ? undefined : await obstacleFor(detection, email)
  if (obstacle === undefined) return imapForm.render(reply, page, { fields: { email }, isEditing })
  const { name, kind, isCertain } = obstacle
  const canSignIn = kind === 'no passwords' && !page.session.providerFixed && consents.connectable.includes('microsoft')
  return pages.render(reply, page, (context) => {
    const { t } = context
    const text = kind === 'bridge' ? 'bridge.text' : canSignIn ? 'noPasswords.signIn' : 'noPasswords.text'
    return obstaclePage(context, {
      editAction: formAction(publicUrl),
      session: page.code,
      state: page.state,
      email,
      provider: name,
      title: t(kind === 'bridge' ? 'bridge.title' : 'noPasswords.title'),
      text: t(text, { provider: name }),
      signIn: canSignIn
        ? { provider: 'microsoft', label: t('start.choose', { provider: DISPLAY_NAMES.microsoft }) }
        : undefined,
      canEnterServer: !isCertain,
      canChangeAddress: true,
    })
  })
}

/** Names the permissions that the provider will ask for. `mailbox` is the one that the session reconnects. */
export function renderConsentPage(
  { pages, consents, publicUrl }: StartPagesDeps,
  reply: FastifyReply,
  page: SessionPage,
  { provider, email, mailbox }: { provider: OAuthProvider; email: string; mailbox: LinkedMailbox | undefined },
): string {
  const { scopes, sharedScopes } = consents.login(provider)
  const asksForShared = page.session.sharedMailboxes && sharedScopes.length > 0
  return pages.render(reply, page, (context) =>
    consentPage(context, {
      action: formAction(publicUrl),
      session: page.code,
      state: page.state,
      email,
      provider: DISPLAY_NAMES[provider],
      grants: [...grantsFor(provider, scopes), ...(asksForShared ? (['shared'] as const) : [])],
      newGrants: newGrants(provider, scopes, mailbox?.scopes),
      isReconnect: mailbox !== undefined,
    }),
  )
}

/** The sign-in by OAuth for a mail server. The user may enter a password instead. */
function renderMailConsentPage(
  { pages, publicUrl, contactsEnabled }: StartPagesDeps,
  reply: FastifyReply,
  page: SessionPage,
  { signIn, email, mailbox }: { signIn: MailOAuthProvider; email: string; mailbox: LinkedMailbox | undefined },
): string {
  const { caldavUrl, carddavUrl } = signIn
  const hasContacts = contactsEnabled && (carddavUrl ?? caldavUrl) !== undefined
  const grants = mailServerGrants({ calendars: caldavUrl !== undefined, contacts: hasContacts })
  return pages.render(reply, page, (context) =>
    consentPage(context, {
      action: formAction(publicUrl),
      session: page.code,
      state: page.state,
      email,
      provider: signIn.label,
      grants,
      isReconnect: mailbox !== undefined,
      isMailServer: true,
    }),
  )
}

/** Leads to the consent page of the provider, at `href`. */
export function renderContinuePage(
  { pages }: StartPagesDeps,
  reply: FastifyReply,
  page: SessionPage,
  provider: string,
  href: string,
): string {
  return pages.render(reply, page, (context) =>
    continuePage(context, {
      title: context.t('continue.title', { provider }),
      text: context.t('continue.text'),
      href,
      label: context.t('start.continue'),
      done: false,
    }),
  )
}

function formAction(publicUrl: string): string {
  return `${publicUrl}/auth/authorize`
}
