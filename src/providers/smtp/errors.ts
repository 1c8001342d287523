import { ScramError } from '../../platform/crypto/scram.ts'
import { isCertificateError } from '../../platform/errors/certificate-errors.ts'
import {
  CONNECTION_PROBLEMS,
  type ConnectionProblem,
  certificateProblem,
} from '../../platform/errors/connection-problems.ts'
import { rethrowProgrammingError } from '../../platform/errors/programming-errors.ts'
import { GuardError } from '../../platform/net/index.ts'
import { isTemporaryReply, ProviderError, type ProviderErrorKind, type RefusedRecipient } from '../contract/index.ts'
import { oneLine } from '../shared/mime/index.ts'

/** Details that nodemailer attaches to its errors, read without trusting any of them. */
interface SmtpFacts {
  code: string
  /** The code of the socket, which `code` replaces. */
  socketCode: string
  /** The code of the server's reply; null when the server did not reply. */
  reply: number | null
  words: string
  refused: RefusedRecipient[]
}

export function readFacts(error: unknown): SmtpFacts {
  const fields: Record<string, unknown> = typeof error === 'object' && error !== null ? { ...error } : {}
  const list = Array.isArray(fields.rejectedErrors) ? fields.rejectedErrors : []
  return {
    code: typeof fields.code === 'string' ? fields.code : '',
    socketCode: typeof fields.originalCode === 'string' ? fields.originalCode : '',
    reply: typeof fields.responseCode === 'number' ? fields.responseCode : null,
    words: typeof fields.response === 'string' ? fields.response : '',
    refused: list.map(refusedRecipient),
  }
}

const MAX_DIAGNOSTIC = 500

export function refusedRecipient(error: unknown): RefusedRecipient {
  const fields: Record<string, unknown> = typeof error === 'object' && error !== null ? { ...error } : {}
  const { reply, words } = readFacts(error)
  return {
    email: typeof fields.recipient === 'string' ? fields.recipient : '',
    code: reply,
    diagnostic: oneLine(words, MAX_DIAGNOSTIC),
  }
}

/**
 * A failure of the connection, of nodemailer or of the address guard; throws programming errors. The server's words stay out of the
 * message and the cause.
 */
export function smtpError(error: unknown, doing: string): ProviderError {
  if (error instanceof ProviderError) return error
  if (error instanceof GuardError)
    return new ProviderError('unavailable', `${doing}: ${error.message}`, { cause: error })
  if (error instanceof ScramError) {
    return new ProviderError('unavailable', `${doing}: the SCRAM login failed, because the server's part is not valid`)
  }
  rethrowProgrammingError(error)
  const facts = readFacts(error)
  const { kind, why, ...options } = classify(facts)
  return new ProviderError(kind, `${doing}: ${why}`, { ...options, cause: withoutWords(error, facts) })
}

/** The log shows causes. A server may quote the password or the message in its reply, and nodemailer quotes the reply. */
function withoutWords(error: unknown, { code, reply, words }: SmtpFacts): unknown {
  if (words === '') return error
  return Object.assign(new Error(reply === null ? 'The server replied.' : `The server replied ${reply}.`), { code })
}

interface Classified {
  kind: ProviderErrorKind
  why: string
  retryAfterMs?: number
  timedOut?: boolean
  problem?: ConnectionProblem | undefined
}

const TOO_MANY_MS = 60_000
const TOO_MANY = /too many|rate|limit|quota|throttl|exceeded/i

/** Beside these words, a 535 says nothing about the password. Postfix writes "(reason unavailable)" for a wrong one. */
const TEMPORARY_LOGIN = /\b4\.\d{1,3}\.\d{1,3}\b|too many|temporar|\blater\b|exceeded|system error|server error/i

/** The peer does not speak TLS. It may be no mail server at all, so this is not a `tls` error of one. */
const NOT_TLS_CODES = /^(ERR_SSL|EPROTO$)/

const NEEDS_TLS = /starttls|encrypt/i
/** RFC 3463: the mailbox of the sender or of a recipient. */
const MAILBOX_FULL = /\b5\.2\.2\b|over ?quota|quota exceeded|mailbox( for user)? (is )?full/i

function classify({ code, socketCode, reply, words, refused }: SmtpFacts): Classified {
  if (reply !== null) {
    const status = `(${reply})`
    // Without the extension, servers refuse the command as unknown or, as Exim with 503, as out of order. 454: not now (RFC 3207).
    if (code === 'ETLS' && reply >= 500) return withProblem('tls', 'starttls_not_offered', status)
    const isTemporary =
      isTemporaryReply(reply, words) ||
      refused.some((refusal) => refusal.code !== null && isTemporaryReply(refusal.code, refusal.diagnostic))
    if (isTemporary && TOO_MANY.test(words)) {
      return {
        kind: 'rate_limited',
        why: `the server limits how much may be sent ${status}`,
        retryAfterMs: TOO_MANY_MS,
      }
    }
    if (isTemporary) return { kind: 'unavailable', why: `the server refused for now ${status}` }
    if (code === 'EAUTH' && TEMPORARY_LOGIN.test(words)) {
      return { kind: 'rate_limited', why: `the server accepts no logins for now ${status}`, retryAfterMs: TOO_MANY_MS }
    }
    // 504: unknown mechanism. nodemailer tries PLAIN where the server offers nothing that it knows.
    if (code === 'EAUTH' && reply === 504) return withProblem('auth_expired', 'no_password_login', status)
    if (code === 'EAUTH') return { kind: 'auth_expired', why: `the server refused the username or password ${status}` }
    // 530: authentication required, 538: encryption required.
    if (reply === 538 || (reply === 530 && NEEDS_TLS.test(words))) {
      return withProblem('auth_expired', 'encryption_required', status)
    }
    if (reply === 530) return { kind: 'auth_expired', why: `the server requires another login ${status}` }
    if (MAILBOX_FULL.test(words)) return { kind: 'rejected', why: `a mailbox is full ${status}` }
    return { kind: 'rejected', why: `the server refused it ${status}` }
  }
  if (isCertificateError(socketCode)) return invalidCertificate(socketCode)
  if (NOT_TLS_CODES.test(socketCode)) {
    return { kind: 'unavailable', why: `the server does not speak TLS on this port (${socketCode})` }
  }
  switch (code) {
    case 'ETLS':
    case 'EREQUIRETLS':
      return { kind: 'tls', why: 'the connection could not be secured' }
    case 'ETIMEDOUT':
      return { kind: 'unavailable', why: 'the server does not respond', timedOut: true }
    case 'EPROTOCOL':
      return { kind: 'limit_exceeded', why: 'the server sent an invalid or too long reply' }
    // Without a reply, nodemailer refused the envelope itself: another attempt would end the same way.
    case 'EENVELOPE':
      return { kind: 'rejected', why: 'the message has no recipient, or one without a valid address' }
    case 'EMESSAGE':
      return { kind: 'rejected', why: 'the message is larger than the server accepts' }
    case 'EAUTH':
    case 'ENOAUTH':
      return withProblem('auth_expired', 'no_password_login')
    default:
      return { kind: 'unavailable', why: code === '' ? 'the connection failed' : `the connection failed (${code})` }
  }
}

function invalidCertificate(code: string): Classified {
  const problem = certificateProblem(code)
  if (problem !== undefined) return withProblem('tls', problem, `(${code})`)
  return { kind: 'tls', why: `the certificate is not valid (${code})` }
}

function withProblem(kind: ProviderErrorKind, problem: ConnectionProblem, status = ''): Classified {
  return { kind, why: `the server ${CONNECTION_PROBLEMS[problem].text} ${status}`.trim(), problem }
}
