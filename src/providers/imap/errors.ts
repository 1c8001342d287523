import { ScramError } from '../../platform/crypto/scram.ts'
import { isCertificateError } from '../../platform/errors/certificate-errors.ts'
import {
  CONNECTION_PROBLEMS,
  type ConnectionProblem,
  certificateProblem,
} from '../../platform/errors/connection-problems.ts'
import { rethrowProgrammingError } from '../../platform/errors/programming-errors.ts'
import { GuardError } from '../../platform/net/index.ts'
import { ProviderError, type ProviderErrorKind, type Refusal } from '../contract/index.ts'
import { type LoginRefusal, meaningOfRefusal } from './connection/login-refusals.ts'
import { classifyRefusal } from './connection/refusals.ts'

/**
 * Maps every failure of imapflow, its socket and the address guard, and throws programming errors. The server's text stays out of the
 * message: it may quote the user name, or anything else.
 */
export function providerError(error: unknown, doing: string): ProviderError {
  if (error instanceof ProviderError) return error
  rethrowProgrammingError(error)
  const { kind, why, ...options } = classify(error, readFacts(error))
  return new ProviderError(kind, `${doing}: ${why}`, { ...options, cause: error })
}

/** The same failure of work that had not begun. */
export function notBegun({ kind, message, cause, retryAfterMs, ...error }: ProviderError): ProviderError {
  const retry = retryAfterMs === undefined ? {} : { retryAfterMs }
  return new ProviderError(kind, message, { ...error, ...retry, notBegun: true, cause })
}

/** Only a new connection helps. */
export function connectionLost(why: string, cause?: unknown): ProviderError {
  return new ProviderError('unavailable', why, cause === undefined ? {} : { cause })
}

export function timeoutError(doing: string, ms: number, host?: string): ProviderError {
  const message = `${doing}: no response within ${Math.round(ms / 1000)} s`
  return new ProviderError('unavailable', message, { timedOut: true, host })
}

/** The server exceeded a limit that protects this process. */
export function limitExceeded(why: string, options: { timedOut?: boolean } = {}): ProviderError {
  return new ProviderError('limit_exceeded', why, options)
}

/** Details that imapflow and Node attach to their errors, read without trusting any of them. */
interface Facts {
  code: string
  responseCode: string
  /** The server's text, used for matching only. */
  words: string
  refused: 'NO' | 'BAD' | undefined
  authenticationFailed: boolean
  tlsFailed: boolean
  missing: boolean
  throttleMs: number | undefined
}

function readFacts(error: unknown): Facts {
  const fields: Record<string, unknown> = typeof error === 'object' && error !== null ? { ...error } : {}
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : '')
  const words = [text('responseText'), text('response'), text('reason')].join(' ')
  const status = text('responseStatus')
  return {
    code: text('code'),
    responseCode: (text('serverResponseCode') || (/\[([A-Z][A-Z/-]*)/i.exec(words)?.[1] ?? '')).toUpperCase(),
    words,
    refused: status === 'NO' || status === 'BAD' ? status : undefined,
    authenticationFailed: fields.authenticationFailed === true,
    tlsFailed: fields.tlsFailed === true,
    missing: fields.mailboxMissing === true || text('code') === 'NotFound',
    throttleMs: typeof fields.throttleReset === 'number' ? fields.throttleReset : undefined,
  }
}

interface Classified {
  kind: ProviderErrorKind
  why: string
  retryAfterMs?: number
  timedOut?: boolean
  busy?: boolean
  problem?: ConnectionProblem | undefined
  refusal?: Refusal
}

/** Response codes of RFC 5530, and texts of Exchange and Yahoo, that mean: repeat the command later. */
const BUSY_CODES: ReadonlySet<string> = new Set([
  'LIMIT',
  'UNAVAILABLE',
  'INUSE',
  'SERVERBUG',
  'OVERQUOTA',
  'ALREADYEXISTS',
])
const BUSY_WORDS =
  /too many|maximum number|connection limit|exceeded|rate limit|throttl|try again|temporar|not available|unavailable|authenticated but not connected|internal (server )?error/i
/** imapflow itself sends the first one, where the server has announced its limit (RFC 7889). */
const TOO_LARGE_CODES: ReadonlySet<string> = new Set(['APPENDLIMIT', 'TOOBIG'])
const REFUSED: Readonly<Record<Refusal, string>> = {
  quota_exceeded: 'the mailbox is full',
  folder_read_only: 'the folder is read-only',
  not_permitted: 'the account has no right to do this',
  invalid_name: 'the server does not accept the name',
}
const MISSING_CODES: ReadonlySet<string> = new Set(['NONEXISTENT', 'TRYCREATE'])
const TIMEOUT_CODES: ReadonlySet<string> = new Set([
  'CONNECT_TIMEOUT',
  'GREETING_TIMEOUT',
  'ETIMEOUT',
  'ETIMEDOUT',
  'UPGRADE_TIMEOUT',
])
/** The peer does not speak TLS. It may be no mail server at all, so this is not a `tls` error of one. */
const NOT_TLS_CODES = /^(ERR_SSL|EPROTO$)/
const TOO_MANY_MS = 60_000
/** Other programs of the user close theirs, as a rule within moments. */
const CONNECTIONS_MS = 20_000
/** An administrator does not help within minutes, and attempts may extend a lock. */
const ADMINISTRATOR_MS = 15 * 60_000
/** Codes that say nothing about the cause, so that the words do. */
const VAGUE_CODES: ReadonlySet<string> = new Set(['', 'ALERT', 'THROTTLED'])
/** Limits of imapflow itself. The response gate normally acts first. */
const LIMIT_CODES: ReadonlySet<string> = new Set([
  'LineTooLarge',
  'LiteralTooLarge',
  'ResponseTooLarge',
  'TooManyTokens',
  'TooManyResponses',
])

function classify(error: unknown, facts: Facts): Classified {
  if (error instanceof GuardError) return { kind: 'unavailable', why: error.message }
  if (error instanceof ScramError) {
    return { kind: 'unavailable', why: "the SCRAM login failed, because the server's part is not valid" }
  }
  if (LIMIT_CODES.has(facts.code)) return { kind: 'limit_exceeded', why: `the server exceeded a limit (${facts.code})` }
  if (facts.throttleMs !== undefined) {
    return { kind: 'rate_limited', why: 'the server asked for a pause', retryAfterMs: facts.throttleMs }
  }
  if (facts.authenticationFailed) return refusedLogin(facts)
  const busy =
    BUSY_CODES.has(facts.responseCode) || (VAGUE_CODES.has(facts.responseCode) && BUSY_WORDS.test(facts.words))
  if (facts.tlsFailed || facts.code === 'STARTTLS_INJECTION' || isCertificateError(facts.code)) {
    return insecure(facts.code)
  }
  if (facts.missing || MISSING_CODES.has(facts.responseCode)) {
    return { kind: 'not_found', why: 'the folder does not exist' }
  }
  if (TOO_LARGE_CODES.has(facts.responseCode)) {
    return { kind: 'rejected', why: 'the message is larger than the server accepts' }
  }
  const refusal = facts.refused === 'NO' ? classifyRefusal(facts) : undefined
  if (refusal !== undefined) return { kind: 'rejected', why: REFUSED[refusal], refusal }
  if (TIMEOUT_CODES.has(facts.code)) return { kind: 'unavailable', why: 'the server does not respond', timedOut: true }
  if (busy && (facts.refused !== undefined || facts.words.trim() !== '')) return busyServer(facts)
  if (facts.refused !== undefined) return { kind: 'rejected', why: 'the server refused the command' }
  if (NOT_TLS_CODES.test(facts.code)) {
    return { kind: 'unavailable', why: `the server does not speak TLS on this port (${facts.code})` }
  }
  if (facts.code === '') return { kind: 'unavailable', why: 'an unexpected error occurred' }
  return { kind: 'unavailable', why: `the connection failed (${facts.code})` }
}

/** imapflow's error has no code when the server does not offer STARTTLS, or refuses it. */
function insecure(code: string): Classified {
  const problem = code === '' ? 'starttls_not_offered' : certificateProblem(code)
  const why =
    problem === undefined ? 'the connection could not be secured' : `the server ${CONNECTION_PROBLEMS[problem].text}`
  return { kind: 'tls', why: code === '' ? why : `${why} (${code})`, problem }
}

function busyServer({ responseCode, words }: Facts): Classified {
  return responseCode === 'LIMIT' || responseCode === 'OVERQUOTA' || /too many|maximum number|limit/i.test(words)
    ? { kind: 'rate_limited', why: 'too many connections or commands', retryAfterMs: TOO_MANY_MS, busy: true }
    : { kind: 'unavailable', why: 'the server is busy', busy: true }
}

/** Only `auth_expired` is about the username or password. After everything else they are still valid. */
const REFUSALS: Readonly<Record<LoginRefusal, Classified>> = {
  credentials: { kind: 'auth_expired', why: 'the server refused the username or password' },
  connections: {
    kind: 'rate_limited',
    why: 'the mailbox has too many connections',
    retryAfterMs: CONNECTIONS_MS,
    busy: true,
  },
  limit: {
    kind: 'rate_limited',
    why: 'too many logins, connections or commands',
    retryAfterMs: TOO_MANY_MS,
    busy: true,
  },
  outage: { kind: 'unavailable', why: 'the server accepts no logins for now', busy: true },
  administrator: {
    kind: 'unavailable',
    why: 'the server refused the login and names its administrator as the one to ask',
    retryAfterMs: ADMINISTRATOR_MS,
    busy: true,
  },
  protocol: { kind: 'unavailable', why: 'the server did not understand the login' },
  encryption: {
    kind: 'tls',
    why: 'the server requires an encrypted connection',
    problem: 'encryption_required',
  },
}

const MAX_WORDS = 1000

function refusedLogin({ responseCode, words, refused }: Facts): Classified {
  // The text may begin with the tag and the status, as in "BAD User is authenticated but not connected".
  const text = words
    .trimStart()
    .slice(0, MAX_WORDS)
    .replace(/^(\S+ )?(NO|BAD)\b/, '')
  return REFUSALS[meaningOfRefusal({ code: responseCode, words: text, isBad: refused === 'BAD' })]
}
