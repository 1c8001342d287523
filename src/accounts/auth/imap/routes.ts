import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type ErrorDetail, invalid } from '../../../platform/errors/app-error.ts'
import { html } from '../../../platform/formats/html.ts'
import { type App, type RouteLimits, wantsHtml } from '../../../platform/http/index.ts'
import type { Log } from '../../../platform/log/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import type { FolderRole, MailProvider, RemoteFolder } from '../../../providers/contract/index.ts'
import { continuePage } from '../../../ui/hosted/index.ts'
import {
  type Account,
  type Accounts,
  type ImapField,
  type ImapFields,
  imapSignIn,
  type LinkedMailbox,
  type VerificationLimit,
} from '../../index.ts'
import { folderList, foldersBody, imapBody } from '../api.ts'
import type { AdmittedPost, HostedAccess } from '../hosted/access.ts'
import { hostedLimits } from '../hosted/limits.ts'
import type { HostedPages } from '../hosted/pages.ts'
import { type AuthSessions, requireProvider } from '../sessions/service.ts'
import { successUrl } from '../sessions/urls.ts'
import { type ImapForm, selectableFolders } from './form.ts'
import { isFormError } from './form-errors.ts'
import { findImapMailbox, withStoredLogins } from './reconnecting.ts'

type ImapConnection = Parameters<typeof imapSignIn.verify>[1]

export interface ImapRoutesDeps {
  sessions: AuthSessions
  access: HostedAccess
  pages: HostedPages
  imapForm: ImapForm
  imap: Pick<MailProvider, 'verify'>
  /** Checks the servers that come with an IMAP mailbox. */
  further: Pick<Parameters<typeof imapSignIn.verifyFurther>[0], 'smtp' | 'caldav'>
  accounts: Pick<Accounts, 'access'>
  verifications: VerificationLimit
  /** FORM_PORTS. */
  formPorts: Parameters<typeof imapSignIn.portErrors>[1]
  clock: Clock
  /** When the form reports an unreachable server, counted from the submit. Default: after the longest check. */
  unreachableMs?: number
  log: Log
}

interface ImapPost extends AdmittedPost {
  /** The mailbox that the session reconnects. */
  mailbox: LinkedMailbox | undefined
  fields: ImapFields & { intent?: unknown }
}

/** Both routes share one bucket, because listing the folders tests a password too. */
const LIMITS: RouteLimits = {
  ...hostedLimits('body', 'session'),
  name: 'auth.imap',
  address: { limit: 120, windowMs: 600_000 },
}

/** Later than the check of a server that does not respond. */
const UNREACHABLE_MS = 10_500
const UNREACHABLE: ReadonlySet<string> = new Set(['imap_unreachable', 'smtp_unreachable', 'caldav_unreachable'])

/** The second step for IMAP: sign in to the mail server, from the hosted form or from a screen of the application. */
export function imapRoutes(app: App, deps: ImapRoutesDeps): void {
  const { sessions, access, pages, imapForm, imap, further, accounts, verifications, formPorts, clock, log } = deps
  const { unreachableMs = UNREACHABLE_MS } = deps
  const tags = ['Hosted authentication']

  app.post(
    '/auth/authorize/imap',
    {
      ...pages.route,
      attachValidation: true,
      config: { access: 'public', form: true, rateLimit: LIMITS },
      schema: {
        tags,
        operationId: 'connectImapMailbox',
        errors: [410],
        summary: 'Connect an IMAP mailbox',
        description: 'Signs in to the mail server. An application with a form of its own can send JSON.',
        produces: ['text/html'],
        body: imapBody,
      },
    },
    async (request, reply) => {
      const post = await admit(request)
      const wantsPage = wantsHtml(request.headers.accept)
      if (wantsPage) access.allowPost(request, reply, post)
      const { fields, mailbox } = post
      try {
        const isLinking = fields.intent !== 'folders'
        const { connection, folders } = await signIn(request, post, await completed(post), { isLinking })
        if (!isLinking) return imapForm.render(reply, post, { fields, folders, mailbox })
        return renderConnected(reply, post, await link(request, post, connection))
      } catch (error) {
        if (!wantsPage || !(error instanceof AppError) || !isFormError(error)) throw error
        return imapForm.render(reply, post, { fields, error, mailbox })
      }
    },
  )

  app.post(
    '/auth/authorize/imap/folders',
    {
      ...pages.jsonRoute,
      attachValidation: true,
      config: { access: 'session', form: true, rateLimit: LIMITS },
      schema: {
        tags,
        operationId: 'listImapFolders',
        errors: [410],
        summary: 'List the folders of a mail server',
        description: 'Signs in to the mail server and returns the folders that can be connected. Connects nothing.',
        body: foldersBody,
        response: { 200: folderList },
      },
    },
    async (request) => {
      const post = await admit(request)
      const { email } = post.fields
      if (email !== undefined && email !== null && typeof email !== 'string')
        throw invalid('body.email', 'must be a string')
      // No folder depends on the address, so any text may be one here.
      const fields = { ...post.fields, email: undefined, mailbox: undefined }
      const { folders } = await signIn(request, post, fields, { optional: ['email'] })
      return {
        folders: selectableFolders(folders).map(({ path, name, delimiter, role }) => {
          return { path, name, delimiter, specialUse: role && SPECIAL_USE[role] }
        }),
      }
    },
  )

  /** Admits the post and fills in the passwords that the first step of the form carried over. */
  async function admit(request: FastifyRequest): Promise<ImapPost> {
    const post = await access.admit(request)
    const { body, session, state, isForm } = post
    requireProvider(session, 'imap')
    const mailbox = isForm ? findImapMailbox(await sessions.reconnects(session)) : undefined
    return { ...post, mailbox, fields: imapForm.fillPasswords(body, body.passwordToken, session.id, state) }
  }

  /** The fields for the sign-in. No page contains what is stored, sealed or not, so it is added only now. */
  async function completed({ fields, mailbox }: ImapPost): Promise<ImapFields> {
    if (mailbox === undefined) return fields
    const { secrets } = await accounts.access(mailbox.accountId)
    return withStoredLogins(fields, mailbox, secrets)
  }

  /** Signs in and checks the folder; when linking, also at the SMTP and the CalDAV server. A failed sign-in uses up an attempt and is recorded with the session. */
  async function signIn(
    request: FastifyRequest,
    { code, session }: AdmittedPost,
    fields: ImapFields,
    { optional = [], isLinking = false }: { optional?: ImapField[]; isLinking?: boolean },
  ): Promise<{ connection: ImapConnection; folders: RemoteFolder[] }> {
    const { connection, errors } = imapSignIn.parse(fields, { optional })
    if (connection === undefined) throw invalidFields(errors)
    const portErrors = imapSignIn.portErrors(connection, formPorts)
    if (portErrors.length > 0) {
      log.info('The hosted form refused a port that FORM_PORTS does not contain.', {
        operation: 'auth.imap',
        provider: 'imap',
        requestId: request.id,
        metadata: { fields: portErrors.map(({ path }) => path) },
      })
      throw invalidFields(portErrors)
    }
    await sessions.takeAttempt(code, session)
    const begunMs = clock.monotonic()
    // A closed port fails at once and a silent one late. The same delay for both keeps the form from scanning ports.
    const onBegin = () => {
      const startedMs = clock.monotonic()
      return async (error: unknown) => {
        const isUnreachable = error instanceof AppError && UNREACHABLE.has(error.code)
        if (isUnreachable && formPorts !== 'any')
          await sleep(Math.max(0, startedMs + unreachableMs - clock.monotonic()))
      }
    }
    try {
      const limited = { verifications, address: request.ip, onBegin }
      const folders = await imapSignIn.verify({ mail: imap, ...limited, keepConnection: isLinking }, connection)
      if (isLinking) await imapSignIn.verifyFurther({ ...further, ...limited }, connection)
      await sessions.returnAttempt(session)
      return { connection, folders }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      // The password was right and only the folder was wrong, or nothing was tried.
      if (error.code === 'validation_failed' || error.code === 'rate_limited') await sessions.returnAttempt(session)
      if (error.code === 'rate_limited') throw error
      await sessions.fail(session, error.code, error.details[0]?.code)
      log.info(`Sign-in to a mail server failed: ${error.code}`, {
        operation: 'auth.imap',
        provider: 'imap',
        requestId: request.id,
        durationMs: clock.monotonic() - begunMs,
        error: error.cause,
        metadata: { code: error.code, reason: error.details[0]?.code },
      })
      throw error
    }
  }

  /** Links the account. When that fails, as with a full licence, the session stays open and records why. */
  async function link(
    request: FastifyRequest,
    { code, session }: AdmittedPost,
    connection: ImapConnection,
  ): Promise<Account> {
    try {
      const account = await sessions.link(code, session, { ...connection, provider: 'imap' })
      log.info('A user signed in to a mail server.', {
        accountId: account.id,
        provider: 'imap',
        operation: 'auth.imap',
        requestId: request.id,
      })
      return account
    } catch (error) {
      if (error instanceof AppError) await sessions.fail(session, error.code)
      throw error
    }
  }

  function renderConnected(reply: FastifyReply, post: AdmittedPost, account: Account): string {
    const { code, state, session, applicationState } = post
    access.revokePost(reply, code, state)
    const email = html`<span class="address">${account.email}</span>`
    return pages.render(reply, post, (context) =>
      continuePage(context, {
        title: context.t('connected.title'),
        text:
          context.brand.name === undefined
            ? context.t.html('connected.text', { email })
            : context.t.html('connected.textTo', { email, app: context.brand.name }),
        href: successUrl(session.redirectUri, code, account, applicationState),
        label: context.t('start.continue'),
        done: true,
      }),
    )
  }
}

const SPECIAL_USE: Readonly<Record<FolderRole, string>> = {
  inbox: '\\Inbox',
  sent: '\\Sent',
  drafts: '\\Drafts',
  trash: '\\Trash',
  junk: '\\Junk',
  archive: '\\Archive',
  all: '\\All',
  flagged: '\\Flagged',
}

function invalidFields(details: ErrorDetail[]): AppError {
  const message = details.map((detail) => `${detail.path} ${detail.message}`).join('; ')
  return new AppError('validation_failed', { message: `${message}.`, details })
}
