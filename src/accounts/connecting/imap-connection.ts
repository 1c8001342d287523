import { isIPv6 } from 'node:net'
import type { ErrorDetail } from '../../platform/errors/app-error.ts'
import { asciiDomain } from '../../platform/formats/domain.ts'
import { isEmailAddress } from '../../platform/formats/email-address.ts'
import { MAIL_PORTS } from '../../platform/formats/mail-ports.ts'
import { cleanText } from '../../platform/formats/text.ts'
import type {
  CaldavSettings,
  ImapSettings,
  MailSecrets,
  MailSettings,
  SmtpSettings,
} from '../../providers/contract/index.ts'

/** The raw fields of the hosted form and of `POST /accounts`. Forms send only text; empty means absent. */
export type ImapFields = { [Name in ImapField]?: unknown }

export type ImapField =
  | 'email'
  | 'host'
  | 'port'
  | 'secure'
  | 'allowSelfSigned'
  | 'username'
  | 'password'
  | 'mailbox'
  | 'smtpHost'
  | 'smtpPort'
  | 'smtpSecure'
  | 'smtpUsername'
  | 'smtpPassword'
  | 'caldavUrl'
  | 'caldavUsername'
  | 'caldavPassword'

/** The parsed fields: everything an account needs except its customUserId. */
export interface ImapConnection {
  email: string
  providerUser: string
  settings: MailSettings & { imap: ImapSettings }
  secrets: MailSecrets & { password: string }
}

const MAX_LENGTH = 1024
const MAX_PASSWORD_LENGTH = 8192

/**
 * Parses the fields, with one error per invalid field. `port` may be text or a number, booleans text or boolean. `secure`
 * absent means TLS, except on port 143 (STARTTLS). `secure` false means STARTTLS, and allows plain text. `optional` names
 * fields that may be missing: the folder list works without `email`.
 */
export function parseImapConnection(
  fields: ImapFields,
  options: { optional?: readonly ImapField[] } = {},
): { connection: ImapConnection; errors: [] } | { connection?: undefined; errors: ErrorDetail[] } {
  const read = fieldReader(fields)
  const required = (field: ImapField, value: string | undefined) => {
    if (value === undefined && !options.optional?.includes(field) && !read.failed(field))
      read.fail(field, 'is required')
    return value ?? ''
  }

  const email = required('email', read.text('email'))
  if (email !== '' && !isEmailAddress(email)) read.fail('email', 'is not an email address')
  const port = read.port('port') ?? MAIL_PORTS.imaps
  const secure = read.boolean('secure')
  const imap: ImapSettings = {
    host: required('host', read.host('host')),
    port,
    username: required('username', read.text('username')),
    security: (secure ?? port !== MAIL_PORTS.imap) ? 'tls' : 'starttls',
    ...(secure === false && { allowPlain: true }),
    allowSelfSigned: read.boolean('allowSelfSigned') ?? false,
    mailbox: folderPath(read.text('mailbox') ?? 'INBOX'),
  }
  const secrets = { password: required('password', read.password('password')) }
  const smtp = smtpSettings(read)
  const caldav = caldavSettings(read)
  const smtpPassword = read.password('smtpPassword')
  const caldavPassword = read.password('caldavPassword')

  if (read.errors.length > 0) return { errors: read.errors }
  return {
    errors: [],
    connection: {
      email,
      providerUser: JSON.stringify([imap.host, imap.username, imap.mailbox]),
      settings: { imap, ...(smtp && { smtp }), ...(caldav && { caldav }) },
      secrets: { ...secrets, ...(smtpPassword && { smtpPassword }), ...(caldavPassword && { caldavPassword }) },
    },
  }
}

/** The ports that the connection uses, each with its field, for the port rules. */
export function connectionPorts(connection: ImapConnection): { field: ImapField; port: number }[] {
  const { imap, smtp, caldav } = connection.settings
  const hasSmtp = smtp !== undefined || connection.secrets.smtpPassword !== undefined
  const ports: { field: ImapField; port: number }[] = [{ field: 'port', port: imap.port }]
  if (hasSmtp) {
    const tried = smtp?.port === undefined ? [MAIL_PORTS.submissions, MAIL_PORTS.submission] : [smtp.port]
    ports.push(...tried.map((port) => ({ field: 'smtpPort' as const, port })))
  }
  if (caldav !== undefined) {
    const { port, protocol } = new URL(caldav.url)
    ports.push({ field: 'caldavUrl', port: Number(port) || (protocol === 'http:' ? 80 : 443) })
  }
  return ports
}

type FieldReader = ReturnType<typeof fieldReader>

function smtpSettings(read: FieldReader): Partial<SmtpSettings> | undefined {
  const host = read.host('smtpHost')
  const secure = read.boolean('smtpSecure')
  const username = read.text('smtpUsername')
  const enteredPort = read.port('smtpPort')
  // A host or `secure` alone determines the port. Without any field, everything is derived from the address later.
  const port =
    enteredPort ?? (secure === undefined ? undefined : secure ? MAIL_PORTS.submissions : MAIL_PORTS.submission)
  const tls = secure ?? (port === undefined ? undefined : port === MAIL_PORTS.submissions)
  const smtp: Partial<SmtpSettings> = {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(tls !== undefined && { security: tls ? ('tls' as const) : ('starttls' as const) }),
    ...(secure === false && { allowPlain: true }),
    ...(username !== undefined && { username }),
  }
  return Object.keys(smtp).length === 0 ? undefined : smtp
}

function caldavSettings(read: FieldReader): CaldavSettings | undefined {
  const url = read.text('caldavUrl')
  const username = read.text('caldavUsername')
  if (url === undefined) {
    if (username !== undefined && !read.failed('caldavUrl')) read.fail('caldavUrl', 'is required')
    return undefined
  }
  if (!isWebAddress(url)) {
    read.fail('caldavUrl', 'must be an http or https URL without a username')
    return undefined
  }
  return { url, ...(username !== undefined && { username }) }
}

/** Reads single fields and collects their errors. An absent field is undefined. */
function fieldReader(fields: ImapFields) {
  const errors: ErrorDetail[] = []
  const fail = (field: ImapField, message: string) => {
    errors.push({ path: `body.${field}`, message })
    return undefined
  }
  const failed = (field: ImapField) => errors.some((error) => error.path === `body.${field}`)

  function string(field: ImapField, maxLength: number): string | undefined {
    const value = fields[field]
    if (value === undefined || value === null || value === '') return undefined
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      return fail(field, 'must be a string')
    }
    const text = cleanText(String(value))
    if (text.length > maxLength) return fail(field, `must not be longer than ${maxLength} characters`)
    if (CONTROL.test(text)) return fail(field, 'must not contain control characters')
    return text
  }

  /** Trimmed: surrounding spaces come from copying. */
  const text = (field: ImapField) => string(field, MAX_LENGTH)?.trim() || undefined

  return {
    errors,
    fail,
    failed,
    text,

    /** Unchanged: a password may begin or end with a space. */
    password: (field: ImapField) => string(field, MAX_PASSWORD_LENGTH),

    boolean(field: ImapField): boolean | undefined {
      const value = text(field)?.toLowerCase()
      if (value === undefined) return undefined
      if (TRUE.has(value)) return true
      return FALSE.has(value) ? false : fail(field, 'must be true or false')
    },

    port(field: ImapField): number | undefined {
      const value = text(field)
      if (value === undefined) return undefined
      const port = /^\d{1,5}$/.test(value) ? Number(value) : 0
      return port >= 1 && port <= 65_535 ? port : fail(field, 'must be a number from 1 to 65535')
    },

    host(field: ImapField): string | undefined {
      const value = text(field)
      if (value === undefined) return undefined
      return hostName(value) ?? fail(field, 'must be a host name or an address, without a port or a path')
    },
  }
}

const CONTROL = /[\u0000-\u001f\u007f]/
const TRUE = new Set(['true', 'on', '1', 'yes'])
const FALSE = new Set(['false', 'off', '0', 'no'])

/** Lower-case ASCII, so that two spellings of a host give one identity. */
function hostName(text: string): string | undefined {
  const lower = text.toLowerCase().replace(/\.$/, '')
  const address = lower.startsWith('[') && lower.endsWith(']') ? lower.slice(1, -1) : lower
  // A zone id names a network interface of this machine, which callers must not choose.
  if (isIPv6(address) && !address.includes('%')) return address
  return asciiDomain(lower)
}

/** RFC 3501: only the folder name INBOX is case-insensitive. */
const folderPath = (path: string) => (path.toUpperCase() === 'INBOX' ? 'INBOX' : path)

function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === ''
}
