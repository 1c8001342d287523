import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/**
 * Encrypts stored secrets with AES-256-GCM and a ring of keys. A sealed text is `<key id>:<iv>.<tag>.<ciphertext>` in base64url.
 * The id selects the key for opening; sealing always uses the primary key, so keys rotate as rows are rewritten. `context` (for
 * example `account:acc_1`) is authenticated: a sealed text does not open in another row.
 */
export interface Sealer {
  readonly primaryKeyId: string
  /** The primary key first. */
  readonly keyIds: readonly string[]
  seal(plain: string, context: string): string
  /** Throws `SealError` when the key is unknown, the text was altered, or it belongs to another context. */
  open(sealed: string, context: string): string
  /** Derives a 32-byte key for another purpose (HMAC of links or cookies) from the root, which no rotation changes. */
  derive(purpose: string): Buffer
}

/** A sealer whose keys change while the service runs. */
export interface RotatingSealer extends Sealer {
  replaceRing(ring: readonly RingKey[]): void
}

/** The id of the key that a text is sealed with. */
export function keyIdOf(sealed: string): string {
  return sealed.slice(0, Math.max(0, sealed.indexOf(':')))
}

export class SealError extends Error {
  override name = 'SealError'
}

export interface RingKey {
  id: string
  key: Buffer
}

const IV_BYTES = 12
const KEY_BYTES = 32
const RING_ENTRY = /^([A-Za-z0-9_-]{1,32}):(.+)$/

/** Parses `k2:<base64>,k1:<base64>` (32 bytes each); the first is primary. Throws `SealError` naming the entry, never the key. */
export function parseKeyRing(text: string): RingKey[] {
  const ring = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry, index) => {
      const match = RING_ENTRY.exec(entry)
      const key = Buffer.from(match?.[2] ?? '', 'base64')
      if (!match?.[1] || key.length !== KEY_BYTES) {
        throw new SealError(`entry ${index + 1} of the key ring must be <id>:<32 bytes in base64>`)
      }
      return { id: match[1], key }
    })
  if (ring.length === 0) throw new SealError('the key ring is empty')
  if (new Set(ring.map((entry) => entry.id)).size !== ring.length)
    throw new SealError('a key id is duplicated in the ring')
  return ring
}

/** A ring of one key. Its id is random by default, so that it cannot collide with configured keys. */
export function generateKeyRing(id = `k${randomBytes(4).toString('hex')}`): string {
  return `${id}:${randomBytes(KEY_BYTES).toString('base64')}`
}

/** `root` is 32 bytes from which keys for other purposes are derived; default: the primary key. */
export function sealer(ring: readonly RingKey[], root?: Buffer): RotatingSealer {
  let primary = requirePrimary(ring)
  let keys = new Map(ring.map((entry) => [entry.id, entry.key]))
  const derivedFrom = root ?? primary.key
  return {
    get primaryKeyId() {
      return primary.id
    },
    get keyIds() {
      return [...keys.keys()]
    },
    replaceRing(next) {
      primary = requirePrimary(next)
      keys = new Map(next.map((entry) => [entry.id, entry.key]))
    },
    seal(plain, context) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', primary.key, iv)
      cipher.setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return `${primary.id}:${[iv, cipher.getAuthTag(), body].map((part) => part.toString('base64url')).join('.')}`
    },
    open(sealed, context) {
      const separator = sealed.indexOf(':')
      if (separator < 1) throw new SealError('the sealed text is malformed')
      const keyId = sealed.slice(0, separator)
      const key = keys.get(keyId)
      if (key === undefined) throw new SealError(`no key with id "${keyId}" in the ring`)
      const [iv, tag, body] = sealed
        .slice(separator + 1)
        .split('.')
        .map((part) => Buffer.from(part, 'base64url'))
      if (iv?.length !== IV_BYTES || tag?.length !== 16 || body === undefined)
        throw new SealError('the sealed text is malformed')
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, iv)
        decipher.setAAD(Buffer.from(context))
        decipher.setAuthTag(tag)
        return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
      } catch (cause) {
        throw new SealError('cannot open the sealed text: it was altered or sealed for another context', { cause })
      }
    },
    derive: (purpose) => Buffer.from(hkdfSync('sha256', derivedFrom, '', `posthorn ${purpose}`, KEY_BYTES)),
  }
}

function requirePrimary(ring: readonly RingKey[]): RingKey {
  const [primary] = ring
  if (primary === undefined) throw new SealError('the key ring is empty')
  return primary
}
