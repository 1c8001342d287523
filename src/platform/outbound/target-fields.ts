/** Fields that users enter for a request target: URL, signing secret and headers. */

import { signingKey } from '../crypto/signature.ts'
import { AppError, type ErrorDetail, invalid } from '../errors/app-error.ts'
import { type AddressGuard, type CheckedTarget, type ConnectTarget, GuardError } from '../net/index.ts'

/** Shown by reads in place of a secret or a header's value. */
export const MASK = '***'

const MAX_HEADERS = 50
const MAX_HEADER_BYTES = 16 * 1024

/** RFC 9110: a token; and field values of visible characters, spaces and tabs, here as latin-1. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,200}$/
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** These belong to the connection, or the service sets them for each request. */
const RESERVED_HEADERS = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Returns the URL, trimmed. Accepts https, and http where PRIVATE_TARGETS covers the host. An https host may be
 * unresolvable for now: the address guard checks it again before every request. Throws validation_failed.
 */
export async function validUrl(text: string, guard: AddressGuard, path: string): Promise<string> {
  const trimmed = text.trim()
  const url = URL.canParse(trimmed) && !/\s/.test(trimmed) ? new URL(trimmed) : undefined
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.hostname === '') {
    throw invalid(path, 'must be an https URL')
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid(path, 'must not contain a username or password; send them in a header')
  }
  const isPlain = url.protocol === 'http:'
  const target = { host: url.hostname, port: Number(url.port) || (isPlain ? 80 : 443) }
  const checked = await resolveTarget(guard, target, path)
  if (isPlain && (checked === undefined || !guard.allowsPlain(checked))) {
    throw invalid(path, 'must use https; plain http is only allowed for addresses that PRIVATE_TARGETS covers')
  }
  return trimmed
}

/** Undefined when the host does not resolve. */
async function resolveTarget(
  guard: AddressGuard,
  target: ConnectTarget,
  path: string,
): Promise<CheckedTarget | undefined> {
  try {
    return await guard.check(target)
  } catch (error) {
    if (!(error instanceof GuardError)) throw error
    if (error.reason === 'refused') throw invalid(path, error.message)
    return undefined
  }
}

/** `whsec_…` must be base64 as the verifying libraries read it: padded, without line breaks. Throws validation_failed. */
export function validSecret(secret: string | null, path: string): string | null {
  if (secret === null) return null
  const key = signingKey(secret)
  if (secret.startsWith('whsec_') && (key.length === 0 || `whsec_${key.toString('base64')}` !== secret)) {
    throw invalid(path, 'must be base64 after "whsec_", or any text without that prefix')
  }
  return secret
}

/**
 * Returns the custom headers to store. The value `***` keeps the stored value of that header, so a client can write back
 * what it read. Throws validation_failed with one detail per invalid header, at `<path>.<name>`.
 */
export function validHeaders(
  headers: Record<string, string>,
  path: string,
  stored: Record<string, string> = {},
): Record<string, string> {
  const details: ErrorDetail[] = []
  const valid = new Map<string, [name: string, value: string]>()
  for (const [name, text] of Object.entries(headers)) {
    const value = text === MASK ? storedValue(stored, name) : text.trim()
    const error = headerError(name, value) ?? (valid.has(name.toLowerCase()) ? 'is duplicated' : undefined)
    if (value !== undefined && error === undefined) valid.set(name.toLowerCase(), [name, value])
    else details.push({ path: `${path}.${name.slice(0, 200)}`, message: error ?? 'is not valid' })
  }
  const entries = [...valid.values()]
  const bytes = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (entries.length > MAX_HEADERS) details.push({ path, message: `must have at most ${MAX_HEADERS} entries` })
  if (bytes > MAX_HEADER_BYTES) details.push({ path, message: 'must not exceed 16 KB in total' })
  if (details.length > 0) throw new AppError('validation_failed', { details })
  return Object.fromEntries(entries)
}

/** The header names with masked values, as reads show them. */
export function maskedHeaders(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, MASK]))
}

/** Header names are case-insensitive: a custom `Content-Type` must replace the default one. */
export function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function storedValue(headers: Record<string, string>, name: string): string | undefined {
  return Object.entries(headers).find(([stored]) => stored.toLowerCase() === name.toLowerCase())?.[1]
}

function headerError(name: string, value: string | undefined): string | undefined {
  const lower = name.toLowerCase()
  if (!HEADER_NAME.test(name)) return 'is not a valid header name'
  if (RESERVED_HEADERS.has(lower) || lower.startsWith('webhook-')) return 'is set by the service'
  if (value === undefined) return 'has no stored value to keep'
  if (!HEADER_VALUE.test(value)) return 'contains a character that is not allowed in header values'
  return undefined
}
