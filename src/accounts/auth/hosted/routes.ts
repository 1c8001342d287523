import type { FastifyReply } from 'fastify'
import { AppError, invalid } from '../../../platform/errors/app-error.ts'
import { isEmailAddress } from '../../../platform/formats/email-address.ts'
import { type App, wantsHtml } from '../../../platform/http/index.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'
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
import { authorizeBody, authorizeQuery } from '../api.ts'
import type { Detection } from '../detection/detection.ts'
import { obstacleFor } from '../detection/obstacles.ts'
import type { ImapForm } from '../imap/form.ts'
import { findImapMailbox } from '../imap/reconnecting.ts'
import type { Consents } from '../oauth/consents.ts'
import { type AuthSessions, requireProvider } from '../sessions/service.ts'
import type { AuthSession } from '../sessions/store.ts'
import type { HostedAccess, SessionPage } from './access.ts'
import { grantsFor, newGrants } from './grants.ts'
import { hostedLimits } from './limits.ts'
import type { HostedPages } from './pages.ts'

export interface HostedRoutesDeps {
  sessions: AuthSessions
  access: HostedAccess
  pages: HostedPages
  imapForm: ImapForm
  consents: Consents
  detection: Detection
  publicUrl: string
}

const DISPLAY_NAMES = { gmail: 'Google', microsoft: 'Microsoft' } as const satisfies Partial<
  Record<ProviderName, string>
>

/** The first step of the hosted flow: open the link, then choose an address or a provider. */
export function hostedRoutes(app: App, deps: HostedRoutesDeps): void {
  const { sessions, access, pages, imapForm, consents, detection } = deps
  const tags = ['Hosted authentication']
  const action = `${deps.publicUrl}/auth/authorize`

  app.get(
    '/auth/authorize',
    {
      ...pages.route,
      config: {
        access: 'public',
        rateLimit: hostedLimits('query', 'session', { perMinute: 300, perSession: 120 }),
      },
      schema: {
        tags,
        operationId: 'openHostedPage',
        errors: [410],
        summary: 'Open the hosted page',
        description: 'The link of a session leads here. Opening it changes nothing.',
        produces: ['text/html'],
        querystring: authorizeQuery,
      },
    },
    async (request, reply) => {
      const { session: code } = request.query
      const session = await sessions.getOpen(code)
      const page = { code, session, state: request.query.state || access.mintState(code) }
      access.allowPost(request, reply, page)
      const mailbox = await reconnectedBy(session)
      if (mailbox?.provider === 'imap')
        return imapForm.render(reply, page, { fields: { email: mailbox.email }, mailbox })
      const { providerFixed, email } = session
      const provider = mailbox?.provider ?? session.provider
      if (provider === 'imap' && email !== null) return renderSignIn(reply, page, email)
      if (provider === null || provider === 'imap' || !(providerFixed || mailbox))
        return renderEmailPage(reply, page, email ?? '')
      requireConnectable(provider)
      const { scopes } = consents.login(provider)
      return pages.render(reply, page, (context) =>
        consentPage(context, {
          action,
          session: code,
          state: page.state,
          email: email ?? '',
          provider: DISPLAY_NAMES[provider],
          grants: grantsFor(provider, scopes),
          newGrants: newGrants(provider, scopes, mailbox?.scopes),
          isReconnect: mailbox !== undefined,
        }),
      )
    },
  )

  app.post(
    '/auth/authorize',
    {
      ...pages.route,
      attachValidation: true,
      config: { access: 'session', form: true, rateLimit: hostedLimits('body', 'session') },
      schema: {
        tags,
        operationId: 'chooseProvider',
        errors: [410],
        summary: 'Choose the provider',
        description:
          'Returns the next page: the form for a mail server, or the way to the consent page of the provider. Without a provider, the service finds the one of the address. A form needs the cookie of the page. JSON that leads to a consent page needs the API key or that cookie; with the cookie, the consent must end in the same browser.',
        produces: ['text/html'],
        body: authorizeBody,
      },
    },
    async (request, reply) => {
      const post = await access.admit(request)
      const { body, code, session, state, applicationState } = post
      const mailbox = await reconnectedBy(session)
      const email = mailbox?.email ?? ((typeof body.email === 'string' && body.email.trim()) || (session.email ?? ''))
      access.allowPost(request, reply, post)
      if (body.edit === 'address' && mailbox === undefined) return renderEmailPage(reply, post, email)
      const choice = mailbox ?? (await chooseProvider(post, body.provider, email))
      if ('error' in choice) {
        if (!wantsHtml(request.headers.accept)) throw invalid('body.email', choice.error.message)
        return renderEmailPage(reply, post, email, { error: choice.error.text })
      }
      const { provider } = choice
      requireProvider(session, provider)
      if (provider === 'imap') {
        if (email === '') return renderEmailPage(reply, post, email, { provider })
        const isEditing = body.edit === 'server'
        if (mailbox !== undefined) return imapForm.render(reply, post, { fields: { email }, mailbox, isEditing })
        return renderSignIn(reply, post, email, { isEditing })
      }
      requireConnectable(provider)
      const href = await consents.begin(provider, {
        code,
        session,
        email: email || null,
        pageState: state,
        applicationState,
        fromPage: access.requireConsentAccess(request, code, state),
      })
      return pages.render(reply, post, (context) =>
        continuePage(context, {
          title: context.t('continue.title', { provider: DISPLAY_NAMES[provider] }),
          text: context.t('continue.text'),
          href,
          label: context.t('start.continue'),
          done: false,
        }),
      )
    },
  )

  /** The mailbox that the session reconnects. Of several with one address, the one whose user needs no password. */
  async function reconnectedBy(session: AuthSession): Promise<LinkedMailbox | undefined> {
    const mailboxes = await sessions.reconnects(session)
    const byConsent = mailboxes.find(({ provider }) => provider !== 'imap' && consents.connectable.includes(provider))
    return byConsent ?? findImapMailbox(mailboxes) ?? mailboxes[0]
  }

  /** Throws consent_refused when the provider of a session was configured once and no longer is. */
  function requireConnectable(provider: ProviderName): void {
    if (consents.connectable.includes(provider)) return
    throw new AppError('consent_refused', { message: 'The provider of this session is no longer configured.' })
  }

  /** The form for the mail server, or why no password can work. A user who enters a server has seen that page. */
  async function renderSignIn(
    reply: FastifyReply,
    page: SessionPage,
    email: string,
    { isEditing = false } = {},
  ): Promise<string> {
    const obstacle = isEditing ? undefined : await obstacleFor(detection, email)
    if (obstacle === undefined) return imapForm.render(reply, page, { fields: { email }, isEditing })
    const { name, kind, isCertain } = obstacle
    const canSignIn =
      kind === 'no passwords' && !page.session.providerFixed && consents.connectable.includes('microsoft')
    return pages.render(reply, page, (context) => {
      const { t } = context
      const text = kind === 'bridge' ? 'bridge.text' : canSignIn ? 'noPasswords.signIn' : 'noPasswords.text'
      return obstaclePage(context, {
        editAction: action,
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

  /** With `provider`, the user chose it before, and the page asks for the address only. */
  function renderEmailPage(
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
      return emailPage(context, { action, session: page.code, state: page.state, email, choices, provider, errors })
    })
  }

  /** `message` is for JSON, `text` for the page. */
  type Choice = { provider: ProviderName } | { error: { message: string; text: TextKey } }

  /** The provider that the user picked, that the session is limited to, or that hosts the address. */
  async function chooseProvider({ session }: SessionPage, picked: unknown, email: string): Promise<Choice> {
    const { connectable } = consents
    if (email !== '' && !isEmailAddress(email)) {
      return failed('must be an email address', 'invalid.address')
    }
    if (typeof picked === 'string' && picked !== '') {
      const provider = connectable.find((name) => name === picked)
      if (provider === undefined) throw invalid('body.provider', `must be one of: ${connectable.join(', ')}`)
      return { provider }
    }
    if (session.providerFixed && session.provider !== null) {
      const isAddressMissing = session.provider === 'imap' && email === ''
      return isAddressMissing ? failed('is required', 'invalid.noAddress') : { provider: session.provider }
    }
    if (email === '') {
      return connectable.length === 1
        ? failed('is required', 'invalid.noAddress')
        : failed('or body.provider is required', 'invalid.noChoice')
    }
    const detected = await detection.detectProvider(email)
    return { provider: connectable.includes(detected) ? detected : 'imap' }
  }
}

function failed(message: string, text: TextKey) {
  return { error: { message, text } }
}
