import type { FastifyReply, FastifyRequest } from 'fastify'
import { type App, errorSchema, type RouteLimits } from '../../../infra/http/index.ts'
import { AppError, type ErrorDetail } from '../../../lib/errors.ts'
import { html } from '../../../lib/html.ts'
import type { FolderRole, RemoteFolder } from '../../../providers/contract/index.ts'
import { continuePage } from '../../../ui/hosted/index.ts'
import {
  type Account,
  formPortFaults,
  type ImapConnection,
  type ImapField,
  type ImapFields,
  parseImapConnection,
  verifyImap,
} from '../../accounts/index.ts'
import { folderList, foldersBody, imapBody } from '../api.ts'
import { wantsHtml } from '../hosted/accept.ts'
import { type Admitted, bodyOf, type Flow } from '../hosted/access.ts'
import { fieldFaults, selectableFolders, signInFault } from './form.ts'
import { imapStep } from './step.ts'

/** One bucket for both: listing folders tries a password as well. */
const LIMITS: RouteLimits = { name: 'auth.imap', address: { limit: 120, windowMs: 600_000 } }

/** Signing in to a mail server, from the form or from an application's own screen. */
export function imapRoutes(app: App, flow: Flow): void {
  const { sessions, sendPage, log } = flow
  const tags = ['Hosted authentication']

  app.post(
    '/auth/authorize/imap',
    {
      ...flow.route,
      attachValidation: true,
      config: { access: 'public', form: true, rateLimit: LIMITS },
      schema: {
        tags,
        summary: 'Sign in to the mail server and connect the mailbox',
        produces: ['text/html'],
        body: imapBody,
      },
    },
    async (request, reply) => {
      const { fields, ...admitted } = await admit(request)
      const wantsPage = wantsHtml(request.headers.accept)
      if (wantsPage) flow.allowPost(request, reply, admitted.code, admitted.session, admitted.state)
      try {
        const { connection, folders } = await signIn(request, admitted, fields, [])
        if (fields.intent === 'folders') return imapStep(flow, reply, admitted, { fields, folders })
        const account = await link(admitted, connection)
        return done(reply, admitted, account)
      } catch (error) {
        const faults = wantsPage && error instanceof AppError ? faultsOf(error) : undefined
        if (faults === undefined) throw error
        return imapStep(flow, reply, admitted, { fields, faults })
      }
    },
  )

  app.post(
    '/auth/authorize/imap/folders',
    {
      onRequest: flow.route.onRequest,
      attachValidation: true,
      config: { access: 'session', form: true, rateLimit: LIMITS },
      schema: {
        tags,
        summary: 'Test the connection and list the folders that may be connected',
        body: foldersBody,
        response: { 200: folderList, '4xx': errorSchema },
      },
    },
    async (request) => {
      const { fields, ...admitted } = await admit(request)
      const { folders } = await signIn(request, admitted, { ...fields, mailbox: undefined }, ['email'])
      return {
        folders: selectableFolders(folders).map(({ path, name, delimiter, role }) => {
          return { path, name, delimiter, specialUse: role && SPECIAL_USE[role] }
        }),
      }
    },
  )

  /** The session may go on, and a password kept between the two steps of the form is back in its field. */
  async function admit(request: FastifyRequest): Promise<Admitted & { fields: ImapFields & { intent?: unknown } }> {
    const body = bodyOf(request)
    const admitted = await flow.admit(request, body)
    flow.demandAllowed(admitted.session, 'imap')
    return { ...admitted, fields: flow.tokens.fill(body, body.passwordToken, admitted.session.id, admitted.state) }
  }

  /** Logs in with the fields and looks at the folder. A refused sign-in counts, and is kept as the session's failure. */
  async function signIn(
    request: FastifyRequest,
    { code, session }: Admitted,
    fields: ImapFields,
    optional: ImapField[],
  ): Promise<{ connection: ImapConnection; folders: RemoteFolder[] }> {
    const { connection, faults } = parseImapConnection(fields, { optional })
    if (connection === undefined) throw refused(faults)
    const portFaults = await formPortFaults(connection, flow.guard)
    if (portFaults.length > 0) throw refused(portFaults)
    await sessions.takeAttempt(code, session)
    try {
      const folders = await verifyImap(flow.imap, connection)
      await sessions.giveAttemptBack(session)
      return { connection, folders }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (error.code === 'validation_failed') await sessions.giveAttemptBack(session)
      await sessions.fail(session, error.code)
      log.info('a sign-in to a mail server failed', {
        operation: 'auth.imap',
        provider: 'imap',
        requestId: request.id,
        error: error.cause,
        metadata: { code: error.code },
      })
      throw error
    }
  }

  /** Links the account; a session that cannot (the licence is full) stays open and says why. */
  async function link({ code, session }: Admitted, connection: ImapConnection): Promise<Account> {
    try {
      return await sessions.link(code, session, { ...connection, provider: 'imap' })
    } catch (error) {
      if (error instanceof AppError) await sessions.fail(session, error.code)
      throw error
    }
  }

  function done(reply: FastifyReply, { code, state, session }: Admitted, account: Account): string {
    reply.header('set-cookie', flow.states.ended(code, state))
    return sendPage(reply, (context) =>
      continuePage(context, {
        title: 'Mailbox connected',
        text: html`<span class="address">${account.email}</span> is connected. You are being taken back${
          flow.brand.name !== undefined && html` to ${flow.brand.name}`
        }.`,
        href: flow.linkedUrl(code, state, session, account),
        label: 'Continue',
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

function refused(details: ErrorDetail[]): AppError {
  const message = details.map((detail) => `${detail.path} ${detail.message}`).join('; ')
  return new AppError('validation_failed', { message: `${message}.`, details })
}

/** What the form can show of an error; undefined: it has a page of its own. */
function faultsOf(error: AppError) {
  return error.code === 'validation_failed' ? fieldFaults(error.details) : signInFault(error)
}
