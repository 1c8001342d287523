import { AppError, type ErrorDetail } from '../../../lib/errors.ts'

/** What reads show in place of a custom header's value. */
export const MASK = '***'

const MAX_HEADERS = 50
const MAX_TOTAL_BYTES = 16 * 1024

/** RFC 9110: a token; and field values of visible characters, spaces and tabs, here as latin-1. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,200}$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** They belong to the connection or are made for each request. */
const RESERVED = new Set([
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
 * The custom headers as they are stored. A value of `***` stands for the one known under that name, so that what was read
 * can be written back. Throws validation_failed naming each fault as `body.headers.<name>`.
 */
export function customHeaders(
  given: Record<string, string>,
  known: Record<string, string> = {},
): Record<string, string> {
  const faults: ErrorDetail[] = []
  const kept = new Map<string, [name: string, value: string]>()
  for (const [name, text] of Object.entries(given)) {
    const value = text === MASK ? knownValue(known, name) : text.trim()
    const fault = faultOf(name, value) ?? (kept.has(name.toLowerCase()) ? 'stands there twice' : undefined)
    if (value !== undefined && fault === undefined) kept.set(name.toLowerCase(), [name, value])
    else faults.push({ path: `body.headers.${name.slice(0, 200)}`, message: fault ?? 'is not valid' })
  }
  const entries = [...kept.values()]
  const size = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (entries.length > MAX_HEADERS) faults.push({ path: 'body.headers', message: `may hold at most ${MAX_HEADERS}` })
  if (size > MAX_TOTAL_BYTES) faults.push({ path: 'body.headers', message: 'may be at most 16 KB together' })
  if (faults.length > 0) throw new AppError('validation_failed', { details: faults })
  return Object.fromEntries(entries)
}

export function masked(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, MASK]))
}

function knownValue(headers: Record<string, string>, name: string): string | undefined {
  return Object.entries(headers).find(([known]) => known.toLowerCase() === name.toLowerCase())?.[1]
}

function faultOf(name: string, value: string | undefined): string | undefined {
  const lower = name.toLowerCase()
  if (!NAME.test(name)) return 'is not a header name'
  if (RESERVED.has(lower) || lower.startsWith('webhook-')) return 'is set by the service itself'
  if (value === undefined) return 'has no stored value to keep'
  if (!VALUE.test(value)) return 'holds a character that header values may not hold'
  return undefined
}
