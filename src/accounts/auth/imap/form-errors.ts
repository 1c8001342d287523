import type { AppError, ErrorCode, ErrorDetail } from '../../../platform/errors/app-error.ts'
import type { ConnectionProblem } from '../../../platform/errors/connection-problems.ts'
import type { FormErrors, TextKey, Translate } from '../../../ui/hosted/index.ts'
import type { ImapField } from '../../index.ts'

/** In the order of the form, which asks for the server first unless one was found. */
const fieldsInOrder = (isServerFound: boolean): ImapField[] => [
  'email',
  ...(isServerFound ? (['password', 'host'] as const) : (['host', 'password'] as const)),
  ...(['port', 'username', 'secure', 'allowSelfSigned', 'mailbox'] as const),
  ...(['smtpHost', 'smtpPort', 'smtpSecure', 'smtpUsername', 'smtpPassword'] as const),
  ...(['caldavUrl', 'caldavUsername', 'caldavPassword'] as const),
]

/** The fields that a failed sign-in is about. */
export const SIGN_IN_ERRORS = {
  imap_auth_failed: ['password', 'username'],
  imap_unreachable: ['host', 'port'],
  imap_tls: ['host', 'port', 'secure'],
  smtp_auth_failed: ['smtpPassword', 'smtpUsername'],
  smtp_unreachable: ['smtpHost', 'smtpPort'],
  smtp_tls: ['smtpHost', 'smtpPort', 'smtpSecure'],
  caldav_auth_failed: ['caldavPassword', 'caldavUsername'],
  caldav_unreachable: ['caldavUrl'],
  caldav_tls: ['caldavUrl'],
} satisfies Partial<Record<ErrorCode, ImapField[]>>

type SignInError = keyof typeof SIGN_IN_ERRORS

export const isSignInError = (code: ErrorCode): code is SignInError => Object.hasOwn(SIGN_IN_ERRORS, code)

/** True when the form can show the error; any other has a page of its own. */
export function isFormError(error: AppError): boolean {
  return error.code === 'validation_failed' || isSignInError(error.code)
}

/**
 * Maps an error to form errors. Undefined when the error has a page of its own. Server texts are never shown. After a
 * rejected sign-in only the password is in doubt when the username is the one that the provider expects.
 */
export function formErrors(
  t: Translate,
  { code, details }: AppError,
  { isServerFound = false, isUsernameSure = false } = {},
): FormErrors | undefined {
  if (code === 'validation_failed') return fieldErrors(t, details, isServerFound)
  if (!isSignInError(code)) return undefined
  const [detail] = details
  if (detail?.code !== undefined && isProblem(detail.code)) return problemErrors(t, code, detail.code)
  const isPasswordWrong = code === 'imap_auth_failed' && isUsernameSure
  const text = t(isPasswordWrong ? 'imap_auth_failed.textPassword' : `${code}.text`)
  const fields = isPasswordWrong ? ['password'] : SIGN_IN_ERRORS[code]
  return { fields: {}, form: { code, title: t(`${code}.title`), text, fields } }
}

/** The form asks for passwords. */
type FormProblem = Exclude<ConnectionProblem, 'no_oauth_login'>

/** The fields of the server that a problem is about. */
const PROBLEM_FIELDS: Readonly<Record<FormProblem, readonly ServerField[]>> = {
  certificate_self_signed: ['host', 'allowSelfSigned'],
  certificate_untrusted: ['host'],
  certificate_expired: ['host'],
  certificate_not_yet_valid: ['host'],
  certificate_wrong_host: ['host'],
  starttls_not_offered: ['port', 'secure'],
  encryption_required: ['port', 'secure'],
  no_password_login: ['host'],
}

type ServerField = 'host' | 'port' | 'secure' | 'allowSelfSigned'

/** Certificates of calendar servers cannot be accepted, and all settings of such a server are in its URL. */
const SERVER_FIELDS: Readonly<Record<'imap' | 'smtp' | 'caldav', Partial<Record<ServerField, ImapField>>>> = {
  imap: { host: 'host', port: 'port', secure: 'secure', allowSelfSigned: 'allowSelfSigned' },
  smtp: { host: 'smtpHost', port: 'smtpPort', secure: 'smtpSecure', allowSelfSigned: 'allowSelfSigned' },
  caldav: { host: 'caldavUrl', port: 'caldavUrl' },
}

const isProblem = (code: string): code is FormProblem => Object.hasOwn(PROBLEM_FIELDS, code)

/** An error whose reason is certain: the title names the server, the text the reason. */
function problemErrors(t: Translate, code: SignInError, problem: FormProblem): FormErrors {
  const server = code.startsWith('smtp') ? 'smtp' : code.startsWith('caldav') ? 'caldav' : 'imap'
  const fields = PROBLEM_FIELDS[problem].flatMap((field) => SERVER_FIELDS[server][field] ?? [])
  const shown = server === 'caldav' && problem === 'certificate_self_signed' ? 'certificate_untrusted' : problem
  const title = t(problem === 'no_password_login' ? 'problem.no_password_login.title' : `${code}.title`)
  return { fields: {}, form: { code, title, text: t(`problem.${shown}.text`), fields } }
}

/** Validation errors in the words and the order of the form. */
function fieldErrors(t: Translate, details: readonly ErrorDetail[], isServerFound: boolean): FormErrors {
  const fields: Record<string, string> = {}
  for (const name of fieldsInOrder(isServerFound)) {
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
  [/^must be an http or https URL/, 'invalid.url'],
  [/^must not be longer than/, 'invalid.tooLong'],
  [/^is not an email address$/, 'invalid.address'],
  [/^does not exist/, 'invalid.folder'],
]
