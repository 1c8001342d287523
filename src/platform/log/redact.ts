import { detached, truncateText } from '../formats/text.ts'

/** Removes secrets from log records. Never throws, always terminates, and returns plain JSON values. */
export interface Redactor {
  text(text: string): string
  value(value: unknown): unknown
  record(record: Record<string, unknown>): Record<string, unknown>
  /** Redacts every later occurrence of exactly this text. */
  hide(secret: string): void
}

const REDACTED = '[redacted]'

const MAX_TEXT = 8192
const MAX_DEPTH = 6
const MAX_ITEMS = 100
/** Limits the metadata of one record, approximately. */
const MAX_RECORD_CHARS = 64 * 1024
/** Shorter secrets occur in ordinary words; replacing them would make records unreadable. */
const MIN_SECRET_CHARS = 8

/** Keys whose values are always secrets or message text. Compared without `-`, `_` and case. */
const SECRET_KEY =
  /(password|passwd|passphrase|secret|secrets|token|tokens|authorization|cookie|cookies|apikey|credential|credentials|privatekey|encryptionkeys?|signature|codeverifier)$/
const SECRET_KEYS = new Set(['pass', 'pwd', 'auth', 'key', 'body', 'rawbody', 'html', 'text', 'session', 'sessioncode'])

interface SecretText {
  /** Matches every text that `pattern` matches. Most texts match no hint at all. */
  hint: string
  pattern: RegExp
  shown: string
}

const SECRET_TEXTS: readonly SecretText[] = [
  {
    hint: 'bearer|basic|xoauth2',
    pattern: /\b(bearer|basic|xoauth2)\s+[A-Za-z0-9+/=._~-]{6,}/gi,
    shown: `$1 ${REDACTED}`,
  },
  { hint: 'whsec_', pattern: /\bwhsec_[A-Za-z0-9+/=_-]+/g, shown: REDACTED },
  { hint: 'phk_', pattern: /\bphk_[A-Za-z0-9_-]{8,}/g, shown: REDACTED },
  {
    hint: 'posthorn_',
    pattern: /\b(posthorn_(?:admin|browser)_[0-9a-f]{8}=)[A-Za-z0-9_-]+/g,
    shown: `$1${REDACTED}`,
  },
  { hint: 'ya29|1//0', pattern: /\b(?:ya29\.|1\/\/0)[A-Za-z0-9._-]{10,}/g, shown: REDACTED },
  // Without the dots of a complete token too: looking for them would take quadratic time for texts that have none.
  { hint: 'eyJ', pattern: /\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*/g, shown: REDACTED },
  {
    hint: '://',
    pattern: /\b([a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]{0,200}):[^\s/]{1,500}@/gi,
    shown: `$1:${REDACTED}@`,
  },
  { hint: '=', pattern: /([?&](?:code|state|session)=)[^\s&"'#]+/gi, shown: `$1${REDACTED}` },
  {
    hint: '=',
    pattern: /\b((?:[a-z]+_)?(?:token|secret|password|passwd|api_?key|code_verifier|signature)=)[^\s&"'#]+/gi,
    shown: `$1${REDACTED}`,
  },
  {
    hint: 'cookie|authorization|api-key',
    pattern:
      /(["']?(?:set-cookie|cookie|authorization|proxy-authorization|x-api-key)["']?\s*[:=]\s*)(?!\[redacted\])[^\r\n,}]+/gi,
    shown: `$1${REDACTED}`,
  },
  {
    hint: `["']`,
    pattern: /(["'](?:[a-z]+_?)?(?:password|token|secret|api_?key)["']\s*:\s*")[^"]*/gi,
    shown: `$1${REDACTED}`,
  },
]

const MAY_HOLD_SECRET = new RegExp(SECRET_TEXTS.map(({ hint }) => hint).join('|'), 'i')

export function redactor(): Redactor {
  const secrets = new Set<string>()
  function text(input: string): string {
    // Truncated only after redaction, because half a secret would not be recognised. The first slice bounds the work. Records are kept, so
    // it must not refer to what may be the response of a hostile server.
    let shown = input.length > 2 * MAX_TEXT ? detached(input.slice(0, 2 * MAX_TEXT)) : input
    for (const secret of secrets) if (shown.includes(secret)) shown = shown.replaceAll(secret, REDACTED)
    if (!MAY_HOLD_SECRET.test(shown)) return truncateText(shown, MAX_TEXT)
    for (const { pattern, shown: replacement } of SECRET_TEXTS) shown = shown.replace(pattern, replacement)
    return truncateText(shown, MAX_TEXT)
  }
  const begin = (): Redaction => ({ text, above: new Set(), charsLeft: MAX_RECORD_CHARS })
  return {
    text,
    value: (value) => redactValue(value, 0, begin()),
    record: (record) => redactRecord(record, 0, begin()),
    hide(secret) {
      if (secret.length >= MIN_SECRET_CHARS) secrets.add(secret)
    },
  }
}

/** The state of redacting one record. */
interface Redaction {
  text(text: string): string
  /** The objects around the value. */
  above: Set<object>
  /** Characters that the record may still hold; values beyond them are left out. */
  charsLeft: number
}

/** About what a value takes beside its text. */
const VALUE_CHARS = 8

function redactValue(value: unknown, depth: number, redaction: Redaction): unknown {
  if (redaction.charsLeft <= 0) return '[more]'
  redaction.charsLeft -= VALUE_CHARS
  switch (typeof value) {
    case 'string':
      return redactText(value, redaction)
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'bigint':
      return redactText(String(value), redaction)
    case 'boolean':
      return value
    case 'object':
      return value === null ? null : redactObject(value, depth, redaction)
    default:
      return undefined
  }
}

function redactText(text: string, redaction: Redaction): string {
  const shown = redaction.text(text)
  redaction.charsLeft -= shown.length
  return shown
}

function redactObject(value: object, depth: number, redaction: Redaction): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (value instanceof Uint8Array) return `[${value.length} bytes]`
  if (value instanceof Error) return redactText(`${value.name}: ${value.message}`, redaction)
  if (value instanceof URL) return redactText(value.href, redaction)
  if (redaction.above.has(value)) return '[circular]'
  if (depth >= MAX_DEPTH) return '[deeper]'
  redaction.above.add(value)
  try {
    if (Array.isArray(value)) return redactItems(value.slice(0, MAX_ITEMS), value.length, depth, redaction)
    if (value instanceof Set) return redactItems(takeFirst(value), value.size, depth, redaction)
    if (value instanceof Map) return redactRecord(Object.fromEntries(takeFirst(value)), depth, redaction)
    return redactRecord(value, depth, redaction)
  } finally {
    redaction.above.delete(value)
  }
}

function takeFirst<T>(values: Iterable<T>): T[] {
  const first: T[] = []
  for (const value of values) {
    if (first.length >= MAX_ITEMS) break
    first.push(value)
  }
  return first
}

function redactItems(first: readonly unknown[], count: number, depth: number, redaction: Redaction): unknown[] {
  const shown = Array.from(first, (item) => safely(() => redactValue(item, depth + 1, redaction)) ?? null)
  return count > first.length ? [...shown, `[${count - first.length} more]`] : shown
}

function redactRecord(record: object, depth: number, redaction: Redaction): Record<string, unknown> {
  redaction.above.add(record)
  const shown = Object.keys(record)
    .slice(0, MAX_ITEMS)
    .map((key) => {
      const inner = safely(() => Reflect.get(record, key))
      const isHidden = isSecretKey(key) && holdsText(inner)
      return [redactText(key, redaction), isHidden ? REDACTED : safely(() => redactValue(inner, depth + 1, redaction))]
    })
  // Unlike an assignment, it makes a member of a key such as __proto__.
  return Object.fromEntries(shown)
}

function isSecretKey(key: string): boolean {
  const plain = key.replaceAll(/[-_]/g, '').toLowerCase()
  return SECRET_KEYS.has(plain) || SECRET_KEY.test(plain)
}

/** `hasToken: true` and `tokens: 3` are facts, not secrets. */
function holdsText(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null)
}

/** A getter, a proxy or a method that throws must not lose the record. */
function safely(read: () => unknown): unknown {
  try {
    return read()
  } catch {
    return '[unreadable]'
  }
}
