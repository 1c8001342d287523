import { AppError, type ErrorDetail } from '../../../lib/errors.ts'
import { SealError, type Sealer } from '../../../lib/seal.ts'
import type { RemoteFolder } from '../../../providers/contract/index.ts'
import { type FormFaults, IMAP_FORM_FIELDS, type ImapFormValues } from '../../../ui/hosted/index.ts'
import type { ImapField, ImapFields } from '../../accounts/index.ts'
import type { ProposedServer } from '../detection/autoconfig.ts'
import { knownServer } from '../detection/known-servers.ts'

const SECRET_FIELDS = ['password', 'smtpPassword', 'caldavPassword'] as const

/** Where the secrets may be sent: a token made for one server must not open for another that was put in its place. */
const BOUND_FIELDS = [
  'host',
  'port',
  'username',
  'smtpHost',
  'smtpPort',
  'smtpUsername',
  'caldavUrl',
  'caldavUsername',
] as const

/**
 * Stands for the passwords between the two steps of the form, so that nobody types them twice and no page holds them:
 * sealed, and bound to the session, the state, and every server and user they were typed for.
 */
export interface PasswordTokens {
  make(fields: ImapFields, sessionId: string, state: string): string
  /** The fields with the passwords that were left empty; as they are when the token is absent or not for them. */
  fill(fields: ImapFields, token: unknown, sessionId: string, state: string): ImapFields
}

export function passwordTokens(sealer: Sealer): PasswordTokens {
  const context = (fields: ImapFields, sessionId: string, state: string) =>
    JSON.stringify(['hosted form', sessionId, state, ...BOUND_FIELDS.map((name) => textOf(fields[name]))])
  return {
    make(fields, sessionId, state) {
      const secrets = SECRET_FIELDS.map((name) => [name, rawText(fields[name])])
      return sealer.seal(JSON.stringify(Object.fromEntries(secrets)), context(fields, sessionId, state))
    },
    fill(fields, token, sessionId, state) {
      if (typeof token !== 'string' || token === '') return fields
      try {
        const kept: ImapFields = JSON.parse(sealer.open(token, context(fields, sessionId, state)))
        const missing = SECRET_FIELDS.filter((name) => rawText(fields[name]) === '')
        return { ...fields, ...Object.fromEntries(missing.map((name) => [name, kept[name]])) }
      } catch (error) {
        // Another server or user was typed in, or the key was rotated: the password is asked for again.
        if (error instanceof SealError) return fields
        throw error
      }
    },
  }
}

/** The fields as the form shows them again; never a password. A known server, or what its domain says, is proposed where none was typed. */
export function formValues(fields: ImapFields, proposal?: ProposedServer): ImapFormValues {
  const email = textOf(fields.email)
  const server = knownServer(email)
  const proposed: ImapFields | undefined =
    textOf(fields.host) !== ''
      ? {}
      : server?.host !== undefined
        ? { host: server.host, port: server.port }
        : proposal && { host: proposal.host, port: proposal.port, ...unusualSecurity(proposal) }
  const username = textOf(fields.username) || proposal?.username || email
  const shown: ImapFields = { ...fields, ...proposed, username }
  return Object.fromEntries(IMAP_FORM_FIELDS.map((name) => [name, textOf(shown[name])])) as ImapFormValues
}

/** What "automatic" would get wrong. */
function unusualSecurity({ port, secure }: ProposedServer): ImapFields {
  return secure === (port !== STARTTLS_PORT) ? {} : { secure: String(secure) }
}

const STARTTLS_PORT = 143

/** In the order of the form. */
const LABELS: Readonly<Record<ImapField, string>> = {
  email: 'email address',
  password: 'password',
  host: 'IMAP server',
  port: 'port',
  username: 'user name',
  mailbox: 'folder',
  secure: 'encryption',
  allowSelfSigned: 'choice about the certificate',
  smtpHost: 'SMTP server',
  smtpPort: 'SMTP port',
  smtpSecure: 'SMTP encryption',
  smtpUsername: 'SMTP user name',
  smtpPassword: 'SMTP password',
  caldavUrl: 'calendar address',
  caldavUsername: 'calendar user name',
  caldavPassword: 'calendar password',
}

/** The faults of a request in the words and the order of the form. */
export function fieldFaults(details: readonly ErrorDetail[]): FormFaults {
  const fields: Record<string, string> = {}
  for (const [name, label] of Object.entries(LABELS)) {
    const message = details.find(({ path }) => path === `body.${name}`)?.message
    if (message !== undefined) {
      fields[name] = message === 'is required' ? `Enter the ${label}.` : `The ${label} ${message}.`
    }
  }
  return { fields }
}

const SIGN_IN_FAULTS: Readonly<Record<string, { title: string; text: string; fields: string[] }>> = {
  imap_auth_failed: {
    title: 'The mail server refused to let you in',
    text: 'Check the user name and the password. Some providers ask for an app password, or want access by IMAP switched on first.',
    fields: ['password', 'username'],
  },
  imap_unreachable: {
    title: 'The mail server could not be reached',
    text: 'Check the name of the IMAP server and the port.',
    fields: ['host', 'port'],
  },
  imap_tls: {
    title: 'The connection is not secure',
    text: 'The certificate of the server is not valid for this name, or it does not speak TLS on this port. Check the server, the port and the encryption.',
    fields: ['host', 'port', 'secure'],
  },
}

/** A refused sign-in as the form shows it: one text per code, whatever the server said. Undefined for other errors. */
export function signInFault(error: unknown): FormFaults | undefined {
  if (!(error instanceof AppError)) return undefined
  const fault = SIGN_IN_FAULTS[error.code]
  return fault && { fields: {}, form: { code: error.code, ...fault } }
}

const ROLE_ORDER = ['inbox', 'archive', 'all', 'sent', 'drafts', 'flagged', 'junk', 'trash']

/** What may be connected, INBOX first, then as the server lists them; the special ones after the ordinary. */
export function selectableFolders(folders: readonly RemoteFolder[]): RemoteFolder[] {
  const rank = (folder: RemoteFolder) => {
    if (folder.path.toUpperCase() === 'INBOX') return -1
    return folder.role === null ? 0 : 1 + ROLE_ORDER.indexOf(folder.role)
  }
  return folders.filter((folder) => folder.selectable).sort((left, right) => rank(left) - rank(right))
}

function textOf(value: unknown): string {
  return rawText(value).trim()
}

function rawText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}
