import { detached, truncateText } from '../../lib/text.ts'

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
  const known = new Set<string>()
  function text(given: string): string {
    // Truncated only after redaction, because half a secret would not be recognised. The first slice bounds the work. Records are kept, so
    // it must not refer to what may be the response of a hostile server.
    let shown = given.length > 2 * MAX_TEXT ? detached(given.slice(0, 2 * MAX_TEXT)) : given
    for (const secret of known) if (shown.includes(secret)) shown = shown.replaceAll(secret, REDACTED)
    if (!MAY_HOLD_SECRET.test(shown)) return truncateText(shown, MAX_TEXT)
    for (const { pattern, shown: replacement } of SECRET_TEXTS) shown = shown.replace(pattern, replacement)
    return truncateText(shown, MAX_TEXT)
  }
  const plain = (value: unknown) => redactValue(value, text, 0, new Set())
  return {
    text,
    value: plain,
    record: (record) => redactRecord(record, text, 0, new Set()),
    hide(secret) {
      if (secret.length >= MIN_SECRET_CHARS) known.add(secret)
    },
  }
}

type CleanText = (text: string) => string

function redactValue(value: unknown, text: CleanText, depth: number, above: Set<object>): unknown {
  switch (typeof value) {
    case 'string':
      return text(value)
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'bigint':
      return String(value)
    case 'boolean':
      return value
    case 'object':
      return value === null ? null : redactObject(value, text, depth, above)
    default:
      return undefined
  }
}

function redactObject(value: object, text: CleanText, depth: number, above: Set<object>): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (value instanceof Uint8Array) return `[${value.length} bytes]`
  if (value instanceof Error) return text(`${value.name}: ${value.message}`)
  if (value instanceof URL) return text(value.href)
  if (above.has(value)) return '[circular]'
  if (depth >= MAX_DEPTH) return '[deeper]'
  if (value instanceof Map) return redactObject(Object.fromEntries(value), text, depth, above)
  above.add(value)
  try {
    if (value instanceof Set || Array.isArray(value)) {
      const items = [...value]
      const shown = items.slice(0, MAX_ITEMS).map((item) => redactValue(item, text, depth + 1, above) ?? null)
      return items.length > MAX_ITEMS ? [...shown, `[${items.length - MAX_ITEMS} more]`] : shown
    }
    return redactRecord(value, text, depth, above)
  } finally {
    above.delete(value)
  }
}

function redactRecord(record: object, text: CleanText, depth: number, above: Set<object>): Record<string, unknown> {
  above.add(record)
  const shown: Record<string, unknown> = {}
  for (const key of Object.keys(record).slice(0, MAX_ITEMS)) {
    const inner = property(record, key)
    shown[text(key)] = isSecretKey(key) && holdsText(inner) ? REDACTED : redactValue(inner, text, depth + 1, above)
  }
  return shown
}

function isSecretKey(key: string): boolean {
  const plain = key.replaceAll(/[-_]/g, '').toLowerCase()
  return SECRET_KEYS.has(plain) || SECRET_KEY.test(plain)
}

/** `hasToken: true` and `tokens: 3` are facts, not secrets. */
function holdsText(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null)
}

function property(record: object, key: string): unknown {
  try {
    return Reflect.get(record, key)
  } catch {
    // A getter that throws must not lose the record.
    return '[unreadable]'
  }
}
