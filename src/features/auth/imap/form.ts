import type { FastifyReply } from 'fastify'
import type { AppError, ErrorDetail } from '../../../lib/errors.ts'
import type { Sealer } from '../../../lib/seal.ts'
import type { RemoteFolder } from '../../../providers/contract/index.ts'
import {
  type FormErrors,
  IMAP_FORM_FIELDS,
  type ImapFormParts,
  type ImapFormValues,
  imapPage,
  NO_ERRORS,
} from '../../../ui/hosted/index.ts'
import type { ImapField, ImapFields } from '../../accounts/index.ts'
import type { ProposedServer } from '../detection/autoconfig.ts'
import type { Detection } from '../detection/detection.ts'
import { HOST_BY_DOMAIN, KNOWN_HOSTS, knownServer, requirementText } from '../detection/known-servers.ts'
import type { SessionPage } from '../hosted/access.ts'
import type { HostedPages } from '../hosted/pages.ts'
import { authorizeUrl } from '../sessions/urls.ts'
import { fieldText, passwordTokens } from './password-token.ts'

export interface ImapFormDeps {
  pages: HostedPages
  detection: Detection
  sealer: Sealer
  publicUrl: string
}

export interface ImapFormContent {
  fields: ImapFields
  errors?: FormErrors
  /** The folders to choose from. Present after a successful sign-in. */
  folders?: readonly RemoteFolder[]
}

export type ImapForm = ReturnType<typeof imapForm>

/** A part is shown once a feature uses what it asks for: sending, and calendars. Posts accept the fields of both already. */
const FORM_PARTS: ImapFormParts = { smtp: false, caldav: false }

/** Renders the form for the mail server: first with the server settings, then with the folders. */
export function imapForm({ pages, detection, sealer, publicUrl }: ImapFormDeps) {
  const tokens = passwordTokens(sealer)
  return {
    fillPasswords: tokens.fill,

    async render(reply: FastifyReply, page: SessionPage, content: ImapFormContent): Promise<string> {
      const { code, state, session } = page
      const { fields, errors = NO_ERRORS, folders } = content
      const isHostEmpty = fields.host === undefined || fields.host === ''
      const email = fieldText(fields.email)
      const proposal = isHostEmpty && email !== '' ? await detection.serverOf(email) : undefined
      const values = formValues(fields, proposal)
      const server = knownServer(values.email)
      const isKnownServer = server !== undefined && (server.host === undefined || server.host === values.host)
      const hasFirstStep = !session.providerFixed && session.provider !== 'imap'
      return pages.render(reply, (context) =>
        imapPage(context, {
          action: `${publicUrl}/auth/authorize/imap`,
          session: code,
          state,
          values: folders === undefined ? values : { ...values, mailbox: values.mailbox || 'INBOX' },
          errors,
          note: isKnownServer && folders === undefined ? requirementText(server) : undefined,
          folders: folders && selectableFolders(folders).map(({ path }) => ({ path, label: path })),
          passwordToken: folders && tokens.make(fields, session.id, state),
          backHref: hasFirstStep ? authorizeUrl(publicUrl, code, state) : undefined,
          knownServers: values.email === '' ? HOST_BY_DOMAIN : undefined,
          hosts: KNOWN_HOSTS,
          parts: FORM_PARTS,
        }),
      )
    },
  }
}

/** The values that the form shows again, without passwords. When the host is empty, they propose a server. */
export function formValues(fields: ImapFields, proposal?: ProposedServer): ImapFormValues {
  const username = fieldText(fields.username).trim() || proposal?.username || fieldText(fields.email).trim()
  const shown: ImapFields = { ...fields, ...proposedFields(fields, proposal), username }
  return Object.fromEntries(IMAP_FORM_FIELDS.map((name) => [name, fieldText(shown[name]).trim()])) as ImapFormValues
}

function proposedFields({ email, host }: ImapFields, proposal: ProposedServer | undefined): ImapFields {
  if (fieldText(host).trim() !== '') return {}
  const known = knownServer(fieldText(email))
  if (known?.host !== undefined) return { host: known.host, port: known.port }
  if (proposal === undefined) return {}
  // The encryption field stays on "Automatic" unless that would choose wrongly.
  const isAutomatic = proposal.secure === (proposal.port !== STARTTLS_PORT)
  return { host: proposal.host, port: proposal.port, ...(!isAutomatic && { secure: String(proposal.secure) }) }
}

const STARTTLS_PORT = 143

/** In the order of the form. */
const LABELS: Readonly<Record<ImapField, string>> = {
  email: 'email address',
  password: 'password',
  host: 'IMAP server',
  port: 'port',
  username: 'username',
  mailbox: 'folder',
  secure: 'encryption',
  allowSelfSigned: 'certificate choice',
  smtpHost: 'SMTP server',
  smtpPort: 'SMTP port',
  smtpSecure: 'SMTP encryption',
  smtpUsername: 'SMTP username',
  smtpPassword: 'SMTP password',
  caldavUrl: 'calendar URL',
  caldavUsername: 'calendar username',
  caldavPassword: 'calendar password',
}

const SIGN_IN_ERRORS: Readonly<Record<string, { title: string; text: string; fields: string[] }>> = {
  imap_auth_failed: {
    title: 'The mail server rejected the sign-in',
    text: 'Check the username and the password. Some providers require an app password, or that you turn on IMAP access first.',
    fields: ['password', 'username'],
  },
  imap_unreachable: {
    title: 'The mail server could not be reached',
    text: 'Check the name of the IMAP server, the port and the encryption.',
    fields: ['host', 'port'],
  },
  imap_tls: {
    title: 'The connection is not secure',
    text: 'The certificate is not valid for this server name, or the server does not offer STARTTLS. Check the server, the port and the encryption.',
    fields: ['host', 'port', 'secure'],
  },
}

/** What the form can show of an error. Undefined when the error has a page of its own. Server texts are never shown. */
export function formErrors(error: AppError): FormErrors | undefined {
  if (error.code === 'validation_failed') return fieldErrors(error.details)
  const signIn = SIGN_IN_ERRORS[error.code]
  return signIn && { fields: {}, form: { code: error.code, ...signIn } }
}

/** Validation errors in the words and the order of the form. */
function fieldErrors(details: readonly ErrorDetail[]): FormErrors {
  const fields: Record<string, string> = {}
  for (const [name, label] of Object.entries(LABELS)) {
    const message = details.find(({ path }) => path === `body.${name}`)?.message
    if (message !== undefined) {
      fields[name] = message === 'is required' ? `Enter the ${label}.` : `The ${label} ${message}.`
    }
  }
  return { fields }
}

const ROLE_ORDER = ['inbox', 'archive', 'all', 'sent', 'drafts', 'flagged', 'junk', 'trash']

/** The selectable folders: INBOX, then ordinary folders in the server's order, then those with a special use. */
export function selectableFolders(folders: readonly RemoteFolder[]): RemoteFolder[] {
  const rank = (folder: RemoteFolder) => {
    if (folder.path.toUpperCase() === 'INBOX') return -1
    return folder.role === null ? 0 : 1 + ROLE_ORDER.indexOf(folder.role)
  }
  return folders.filter((folder) => folder.selectable).sort((left, right) => rank(left) - rank(right))
}
