import type { FastifyReply } from 'fastify'
import type { Sealer } from '../../../platform/crypto/seal.ts'
import type { AppError } from '../../../platform/errors/app-error.ts'
import type { RemoteFolder } from '../../../providers/contract/index.ts'
import { IMAP_FORM_FIELDS, type ImapFormValues, imapPage, NO_ERRORS } from '../../../ui/hosted/index.ts'
import type { ImapFields, LinkedMailbox } from '../../index.ts'
import type { Detection } from '../detection/detection.ts'
import { guideFor } from '../detection/guides.ts'
import { KNOWN_HOSTS, requirementText, serverAt } from '../detection/known-servers.ts'
import type { MailSignIns } from '../detection/mail-sign-ins.ts'
import type { SessionPage } from '../hosted/access.ts'
import { mailServerGrants } from '../hosted/grants.ts'
import type { HostedPages } from '../hosted/pages.ts'
import { formErrors, isSignInError, SIGN_IN_ERRORS } from './form-errors.ts'
import { fieldText, passwordTokens } from './password-token.ts'
import { type Proposal, parseProposal, proposalOfTable, serverOfSignIn, toProposal } from './proposal.ts'
import { storedLogins, storedProposal } from './reconnecting.ts'

interface ImapFormDeps {
  pages: HostedPages
  detection: Detection
  mailSignIns: Pick<MailSignIns, 'find'>
  sealer: Sealer
  publicUrl: string
  /** Whether the service syncs contacts. */
  contactsEnabled: boolean
}

interface ImapFormContent {
  fields: ImapFormFields
  error?: AppError | undefined
  /** The folders to choose from. Present after a successful sign-in. */
  folders?: readonly RemoteFolder[]
  /** Opens the settings. */
  isEditing?: boolean
  /** The mailbox that the session reconnects. */
  mailbox?: LinkedMailbox | undefined
}

interface ImapFormFields extends ImapFields {
  /** The proposal of an earlier page for this address, as JSON. It decides only what the next page shows. */
  proposed?: unknown
}

export type ImapForm = ReturnType<typeof imapForm>

/** Renders the form for the mail server: first with the server settings, then with the folders. */
export function imapForm({ pages, detection, mailSignIns, sealer, publicUrl, contactsEnabled }: ImapFormDeps) {
  const tokens = passwordTokens(sealer)

  /** Looks up a server only while none was chosen: rendering an error must not depend on the network. */
  async function proposalFor({ email, host, proposed }: ImapFormFields): Promise<Proposal | undefined> {
    const address = fieldText(email).trim()
    if (address === '') return undefined
    const offered = proposalOfTable(address) ?? parseProposal(proposed, address)
    if (offered !== undefined || fieldText(host).trim() !== '') return offered
    // Its user has chosen the password.
    const signIn = await mailSignIns.find(address)
    if (signIn !== undefined) return toProposal(serverOfSignIn(signIn), address)
    const found = await detection.findServer(address)
    return found && toProposal(found, address)
  }

  return {
    fillPasswords: tokens.fill,

    async render(reply: FastifyReply, page: SessionPage, content: ImapFormContent): Promise<string> {
      const { code, state, session } = page
      const { fields, error, folders, isEditing, mailbox } = content
      const proposed = mailbox === undefined ? await proposalFor(fields) : storedProposal(mailbox)
      const values = formValues(fields, proposed)
      const server = serverAt(values.host)
      const kept = keptPasswords(fields, error)
      const lost = PASSWORDS.filter((name) => !kept.includes(name))
      const shownFields = { ...fields, ...Object.fromEntries(lost.map((name) => [name, ''])) }
      const formFacts = {
        isServerFound: proposed !== undefined,
        isUsernameSure: values.username === proposed?.username,
      }
      return pages.render(reply, page, (context) =>
        imapPage(context, {
          action: `${publicUrl}/auth/authorize/imap`,
          editAction: `${publicUrl}/auth/authorize`,
          session: code,
          state,
          values: folders === undefined ? values : { ...values, mailbox: values.mailbox || 'INBOX' },
          proposed,
          proposedField:
            mailbox === undefined && proposed ? JSON.stringify({ email: values.email, ...proposed }) : undefined,
          isEditing,
          isReconnect: mailbox !== undefined,
          errors: (error && formErrors(context.t, error, formFacts)) ?? NO_ERRORS,
          provider: server?.name,
          grants: mailServerGrants({ calendars: true, contacts: contactsEnabled }),
          note: server && requirementText(context.t, server),
          guide: guideFor(values.host),
          isAppPassword: server?.requirement === 'app password',
          folders: folders && selectableFolders(folders).map(({ path }) => ({ path, label: path })),
          passwordToken:
            kept.length === 0 ? undefined : tokens.make(shownFields, session.id, state, faultyFields(error)),
          entered: [...kept, ...(mailbox === undefined ? [] : storedLogins(mailbox, values))],
          hosts: KNOWN_HOSTS,
        }),
      )
    },
  }
}

/** The values that the form shows again, without passwords. When the host is empty, they are those of the proposal. */
export function formValues(fields: ImapFields, proposed?: Proposal): ImapFormValues {
  const isHostEmpty = fieldText(fields.host).trim() === ''
  const username = fieldText(fields.username).trim() || proposed?.username || fieldText(fields.email)
  const shown: ImapFields = { ...fields, ...(isHostEmpty && proposed), username }
  return Object.fromEntries(IMAP_FORM_FIELDS.map((name) => [name, fieldText(shown[name]).trim()])) as ImapFormValues
}

const PASSWORDS = ['password', 'smtpPassword', 'caldavPassword'] as const

/** The passwords that survive: those that the error is not about. The token stays bound to the servers, even to one that failed. */
function keptPasswords(fields: ImapFields, error: AppError | undefined): (typeof PASSWORDS)[number][] {
  const isRejected = error !== undefined && isSignInError(error.code) && error.code.endsWith('_auth_failed')
  const faulty: readonly string[] = isRejected ? SIGN_IN_ERRORS[error.code] : faultyFields(error)
  return PASSWORDS.filter((name) => fieldText(fields[name]) !== '' && !faulty.includes(name))
}

/** Only fields that cannot be used. After a failed sign-in the password stays bound to the server that failed. */
const faultyFields = (error: AppError | undefined): string[] =>
  error?.code === 'validation_failed' ? error.details.map(({ path }) => path.replace(/^body\./, '')) : []

const ROLE_ORDER = ['inbox', 'archive', 'all', 'sent', 'drafts', 'flagged', 'junk', 'trash']

/** The selectable folders: INBOX, then ordinary folders in the server's order, then those with a special use. */
export function selectableFolders(folders: readonly RemoteFolder[]): RemoteFolder[] {
  const rank = (folder: RemoteFolder) => {
    if (folder.path.toUpperCase() === 'INBOX') return -1
    return folder.role === null ? 0 : 1 + ROLE_ORDER.indexOf(folder.role)
  }
  return folders.filter((folder) => folder.selectable).sort((left, right) => rank(left) - rank(right))
}
