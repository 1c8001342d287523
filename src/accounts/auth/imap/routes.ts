import type { FastifyRequest } from 'fastify'
import { AppError, invalid } from '../../../platform/errors/app-error.ts'
import { type App, type RouteLimits, wantsHtml } from '../../../platform/http/index.ts'
import type { FolderRole } from '../../../providers/contract/index.ts'
import type { Accounts, ImapFields, LinkedMailbox } from '../../index.ts'
import { folderList, foldersBody, imapBody } from '../api.ts'
import type { AdmittedPost, HostedAccess } from '../hosted/access.ts'
import { renderConnected } from '../hosted/connected.ts'
import { hostedLimits } from '../hosted/limits.ts'
import type { HostedPages } from '../hosted/pages.ts'
import { requireProvider } from '../sessions/service.ts'
import { type ImapForm, selectableFolders } from './form.ts'
import { isFormError } from './form-errors.ts'
import { findImapMailbox, withStoredLogins } from './reconnecting.ts'
import { link, type SignInDeps, signIn } from './sign-in.ts'

export interface ImapRoutesDeps extends SignInDeps {
  access: HostedAccess
  pages: HostedPages
  imapForm: ImapForm
  accounts: Pick<Accounts, 'access'>
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

/** The second step for IMAP: sign in to the mail server, from the hosted form or from a screen of the application. */
export function imapRoutes(app: App, deps: ImapRoutesDeps): void {
  const { access, pages, imapForm } = deps
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
      const post = await admit(deps, request)
      const wantsPage = wantsHtml(request.headers.accept)
      if (wantsPage) access.allowPost(request, reply, post)
      const { fields, mailbox } = post
      try {
        const isLinking = fields.intent !== 'folders'
        const { connection, folders } = await signIn(deps, request, post, await completeFields(deps, post), {
          isLinking,
        })
        if (!isLinking) return imapForm.render(reply, post, { fields, folders, mailbox })
        return renderConnected(deps, reply, post, await link(deps, request, post, connection))
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
      const post = await admit(deps, request)
      const { email } = post.fields
      if (email !== undefined && email !== null && typeof email !== 'string')
        throw invalid('body.email', 'must be a string')
      // No folder depends on the address, so any text may be one here.
      const fields = { ...post.fields, email: undefined, mailbox: undefined }
      const { folders } = await signIn(deps, request, post, fields, { optional: ['email'] })
      return {
        folders: selectableFolders(folders).map(({ path, name, delimiter, role }) => {
          return { path, name, delimiter, specialUse: role && SPECIAL_USE[role] }
        }),
      }
    },
  )
}

/** Admits the post and fills in the passwords that the first step of the form carried over. */
async function admit({ access, sessions, imapForm }: ImapRoutesDeps, request: FastifyRequest): Promise<ImapPost> {
  const post = await access.admit(request)
  const { body, session, state, isForm } = post
  requireProvider(session, 'imap')
  const mailbox = isForm ? findImapMailbox(await sessions.reconnects(session)) : undefined
  return { ...post, mailbox, fields: imapForm.fillPasswords(body, body.passwordToken, session.id, state) }
}

/** The fields for the sign-in. No page contains what is stored, sealed or not, so it is added only now. */
async function completeFields(
  { accounts }: Pick<ImapRoutesDeps, 'accounts'>,
  { fields, mailbox }: ImapPost,
): Promise<ImapFields> {
  if (mailbox === undefined) return fields
  const { secrets } = await accounts.access(mailbox.accountId)
  return withStoredLogins(fields, mailbox, secrets)
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
