import type { FastifyReply } from 'fastify'
import type { AppError, ErrorCode, ErrorDetail } from '../../../lib/errors.ts'
import type { Sealer } from '../../../lib/seal.ts'
import type { RemoteFolder } from '../../../providers/contract/index.ts'
import {
  type FormErrors,
  IMAP_FORM_FIELDS,
  type ImapFormParts,
  type ImapFormValues,
  imapPage,
  NO_ERRORS,
  type TextKey,
  type Translate,
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
  error?: AppError | undefined
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
      const { fields, error, folders } = content
      const isHostEmpty = fields.host === undefined || fields.host === ''
      const email = fieldText(fields.email)
      const proposal = isHostEmpty && email !== '' ? await detection.serverOf(email) : undefined
      const values = formValues(fields, proposal)
      const server = knownServer(values.email)
      const isKnownServer = server !== undefined && (server.host === undefined || server.host === values.host)
      const hasFirstStep = !session.providerFixed && session.provider !== 'imap'
      return pages.render(reply, page, (context) =>
        imapPage(context, {
          action: `${publicUrl}/auth/authorize/imap`,
          session: code,
          state,
          values: folders === undefined ? values : { ...values, mailbox: values.mailbox || 'INBOX' },
          errors: (error && formErrors(context.t, error)) ?? NO_ERRORS,
          note: isKnownServer && folders === undefined ? requirementText(context.t, server) : undefined,
          folders: folders && selectableFolders(folders).map(({ path }) => ({ path, label: path })),
          passwordToken:
            folders !== undefined || isPasswordKept(fields, error)
              ? tokens.make(fields, session.id, state, faultyFields(error))
              : undefined,
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
const FIELDS = [
  ...(['email', 'password', 'host', 'port', 'username', 'mailbox', 'secure', 'allowSelfSigned'] as const),
  ...(['smtpHost', 'smtpPort', 'smtpSecure', 'smtpUsername', 'smtpPassword'] as const),
  ...(['caldavUrl', 'caldavUsername', 'caldavPassword'] as const),
] satisfies readonly ImapField[]

const SIGN_IN_ERRORS = {
  imap_auth_failed: ['password', 'username'],
  imap_unreachable: ['host', 'port'],
  imap_tls: ['host', 'port', 'secure'],
} satisfies Partial<Record<ErrorCode, ImapField[]>>

const isSignInError = (code: ErrorCode): code is keyof typeof SIGN_IN_ERRORS => Object.hasOwn(SIGN_IN_ERRORS, code)

/** True when the form can show the error; any other has a page of its own. */
export function isFormError(error: AppError): boolean {
  return error.code === 'validation_failed' || isSignInError(error.code)
}

/** What the form shows of an error. Undefined when the error has a page of its own. Server texts are never shown. */
export function formErrors(t: Translate, { code, details }: AppError): FormErrors | undefined {
  if (code === 'validation_failed') return fieldErrors(t, details)
  if (!isSignInError(code)) return undefined
  return {
    fields: {},
    form: { code, title: t(`${code}.title`), text: t(`${code}.text`), fields: SIGN_IN_ERRORS[code] },
  }
}

/** Validation errors in the words and the order of the form. */
function fieldErrors(t: Translate, details: readonly ErrorDetail[]): FormErrors {
  const fields: Record<string, string> = {}
  for (const name of FIELDS) {
    const message = details.find(({ path }) => path === `body.${name}`)?.message
    if (message === undefined) continue
    const [key, ports = ''] = invalidText(message)
    fields[name] = t(key, { field: t(`name.${name}`), ports })
  }
  return { fields }
}

/** The text for a validation message, which is in English because API clients read it too. */
function invalidText(message: string): [key: TextKey, ports?: string] {
  const [, ports] = /^must use one of the ports (.+)$/.exec(message) ?? []
  if (ports !== undefined) return ['invalid.allowedPorts', ports]
  return [INVALID_TEXTS.find(([pattern]) => pattern.test(message))?.[1] ?? 'invalid.other']
}

const INVALID_TEXTS: readonly [RegExp, TextKey][] = [
  [/^is required$/, 'invalid.required'],
  [/^must be a number from 1 to 65535$/, 'invalid.port'],
  [/^must be a host name/, 'invalid.host'],
  [/^must not be longer than/, 'invalid.tooLong'],
  [/^is not an email address$/, 'invalid.address'],
  [/^does not exist/, 'invalid.folder'],
]

/** A password survives an error that is not about it. */
function isPasswordKept({ password }: ImapFields, error: AppError | undefined): boolean {
  if (error?.code !== 'validation_failed' || fieldText(password) === '') return false
  return !faultyFields(error).includes('password')
}

const faultyFields = (error: AppError | undefined): string[] =>
  (error?.details ?? []).map(({ path }) => path.replace(/^body\./, ''))

const ROLE_ORDER = ['inbox', 'archive', 'all', 'sent', 'drafts', 'flagged', 'junk', 'trash']

/** The selectable folders: INBOX, then ordinary folders in the server's order, then those with a special use. */
export function selectableFolders(folders: readonly RemoteFolder[]): RemoteFolder[] {
  const rank = (folder: RemoteFolder) => {
    if (folder.path.toUpperCase() === 'INBOX') return -1
    return folder.role === null ? 0 : 1 + ROLE_ORDER.indexOf(folder.role)
  }
  return folders.filter((folder) => folder.selectable).sort((left, right) => rank(left) - rank(right))
}
