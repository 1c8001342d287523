import { createPublicKey, type KeyObject } from 'node:crypto'
import { isIP } from 'node:net'
import { parseApiKeys } from '../platform/crypto/api-keys.ts'
import { parseKeyRing } from '../platform/crypto/seal.ts'

/** The type of a setting. Environment variables are text; the file may also contain JSON values. */
export interface Kind<T> {
  /** Ends the sentence "X must be …". */
  readonly expects: string
  /** Throws for an invalid value: no programming error. The error is never shown, because it may contain the value; `expects` is. */
  parse(input: unknown): T
}

/** A value that its setting does not allow. */
class InvalidValue extends Error {}

export const text: Kind<string> = { expects: 'a string', parse: requireText }

export const path: Kind<string> = { expects: 'a path', parse: requireText }

export const boolean: Kind<boolean> = {
  expects: 'true or false',
  parse(input) {
    if (typeof input === 'boolean') return input
    const word = requireText(input).toLowerCase()
    if (['true', '1', 'yes', 'on'].includes(word)) return true
    if (['false', '0', 'no', 'off'].includes(word)) return false
    throw new InvalidValue('not a boolean')
  },
}

export function integer(least: number, most: number): Kind<number> {
  return {
    expects: `a whole number from ${least} to ${most}`,
    parse(input) {
      const value = typeof input === 'number' ? input : /^-?\d+$/.test(requireText(input)) ? Number(input) : Number.NaN
      if (!Number.isSafeInteger(value) || value < least || value > most) throw new InvalidValue('out of range')
      return value
    },
  }
}

export function oneOf<const T extends string>(...words: readonly T[]): Kind<T> {
  return {
    expects: `one of ${words.join(', ')}`,
    parse(input) {
      const wanted = requireText(input).toLowerCase()
      const word = words.find((candidate) => candidate.toLowerCase() === wanted)
      if (word === undefined) throw new InvalidValue('not one of the words')
      return word
    },
  }
}

/** An absolute URL with one of these schemes. Trailing slashes are removed, so that paths can be appended. */
export function url(...schemes: readonly string[]): Kind<string> {
  return {
    expects: `a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
    parse(input) {
      const text = requireText(input)
      const parsed = new URL(text)
      if (!schemes.includes(parsed.protocol.slice(0, -1)) || parsed.host === '')
        throw new InvalidValue('another scheme')
      return text.replace(/\/+$/, '')
    },
  }
}

/** The address of the service for browsers: http or https, optionally with a path, without query or fragment. */
export const baseUrl: Kind<string> = {
  expects: 'a URL that begins with http:// or https://, without user, query or fragment',
  parse(input) {
    const parsed = new URL(url('http', 'https').parse(input))
    if (parsed.search + parsed.hash + parsed.username + parsed.password !== '') throw new InvalidValue('too much')
    return parsed.href.replace(/\/+$/, '')
  },
}

/** As clients send it in the header Origin. Desktop applications have schemes of their own. */
export const origin: Kind<string> = {
  expects: 'an origin such as https://chat.example.com, without a path',
  parse(input) {
    const text = requireText(input).toLowerCase()
    if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+$/.test(text)) throw new InvalidValue('no origin')
    return text
  },
}

const UNSAFE_SCHEMES = ['javascript:', 'data:', 'file:', 'vbscript:', 'blob:']

/** A redirect target. Any scheme is allowed, for mobile and desktop applications, except those that run or read locally. */
export const redirectTarget: Kind<string> = {
  expects: `an absolute URL, without the schemes ${UNSAFE_SCHEMES.join(' ')}`,
  parse(input) {
    const text = requireText(input)
    if (UNSAFE_SCHEMES.includes(new URL(text).protocol)) throw new InvalidValue('an unsafe scheme')
    return text
  },
}

/** `a, b, c` or a JSON array. */
export function list(item: Kind<string>): Kind<string[]> {
  return {
    expects: item === text ? 'a comma-separated list' : `a comma-separated list; each item must be ${item.expects}`,
    parse: (input) => parseItems(input).map((entry) => item.parse(entry)),
  }
}

/** Separated by spaces or commas, or a JSON array. One of `required` must be included, with or without an address before it. */
export function scopes(...required: readonly string[]): Kind<string[]> {
  return {
    expects: `scopes separated by spaces or commas, among them ${required.join(' or ')}`,
    parse(input) {
      const names = parseItems(input).flatMap((item) => item.split(/\s+/))
      const isIncluded = (name: string) => names.some((scope) => scope === name || scope.endsWith(`/${name}`))
      if (!required.some(isIncluded)) throw new InvalidValue('a required scope is missing')
      return names
    },
  }
}

/** `key=value,key=value`, values percent-encoded as OpenTelemetry does, or a JSON object. */
export const pairs: Kind<Record<string, string>> = {
  expects: 'pairs such as key=value,key=value',
  parse(input) {
    if (isObject(input))
      return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, requireText(value)]))
    return Object.fromEntries(
      parseItems(input).map((entry) => {
        const [, key, value] = /^([^=]+)=(.*)$/s.exec(entry) ?? []
        if (key === undefined || value === undefined) throw new InvalidValue('no equals sign')
        return [key.trim(), decodeURIComponent(value.trim())]
      }),
    )
  },
}

/** The address of a proxy: an address, a network, or one of the names that Fastify's `trustProxy` accepts. */
export const network: Kind<string> = {
  expects: 'an IP address, a network such as 10.0.0.0/8, or loopback, linklocal, uniquelocal',
  parse(input) {
    const text = requireText(input)
    if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return text
    checkNetwork(text)
    return text
  },
}

const HOST_NAME = /^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?$/i

export const privateTargets: Kind<string> = {
  expects: 'none, loopback, all, or a list of hosts and networks such as mail.internal,10.0.0.0/8',
  parse(input) {
    const items = parseItems(input)
    if (items.length === 0) throw new InvalidValue('empty')
    for (const item of items) if (!HOST_NAME.test(item)) checkNetwork(item)
    return items.join(',')
  },
}

export const formPorts: Kind<'any' | readonly number[]> = {
  expects: 'any, or a list of ports such as 143,993',
  parse(input) {
    const items = parseItems(input)
    if (items.length === 1 && items[0]?.toLowerCase() === 'any') return 'any'
    if (items.length === 0) throw new InvalidValue('empty')
    return items.map((item) => integer(1, 65_535).parse(item))
  },
}

const MOST_MONTHS = 24

/**
 * Months before and after today: `1,12` or a JSON array. With more, a daily series would have more instances than are stored of one
 * series.
 */
export const months: Kind<readonly [past: number, future: number]> = {
  expects: `two numbers of months, the first from 0 to ${MOST_MONTHS}, the second from 1 to ${MOST_MONTHS}`,
  parse(input) {
    const [past = '', future = '', ...rest] = parseItems(input)
    if (rest.length > 0) throw new InvalidValue('too many')
    return [integer(0, MOST_MONTHS).parse(past), integer(1, MOST_MONTHS).parse(future)]
  },
}

export const keyRing: Kind<string> = {
  expects: 'keys such as k2:<32 bytes in base64>,k1:<32 bytes in base64>, the first one primary, each id unique',
  parse(input) {
    const text = requireText(input)
    parseKeyRing(text)
    return text
  },
}

export const apiKeys: Kind<string> = {
  expects: 'one key, or two keys separated by a comma',
  parse: (input) => parseApiKeys(parseItems(input).join(',')).join(','),
}

export const ed25519PublicKey: Kind<KeyObject> = {
  expects: 'an Ed25519 public key: SPKI in base64, as `posthorn licence keypair` prints it',
  parse(input) {
    const key = createPublicKey({ key: Buffer.from(requireText(input), 'base64'), format: 'der', type: 'spki' })
    if (key.asymmetricKeyType !== 'ed25519') throw new InvalidValue('not an Ed25519 key')
    return key
  },
}

export const color: Kind<string> = {
  expects: 'a colour such as #1a6fdb',
  parse(input) {
    const text = requireText(input)
    if (!/^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(text)) throw new InvalidValue('not a colour')
    return text
  },
}

/** A path, or the JSON of a service account itself (in the file also as an object). */
export const credentials: Kind<string> = {
  expects: 'a path, or the JSON of the credentials',
  parse: (input) => (isObject(input) ? JSON.stringify(input) : requireText(input)),
}

function requireText(input: unknown): string {
  if (typeof input === 'number') return String(input)
  if (typeof input !== 'string' || input.trim() === '') throw new InvalidValue('not a text')
  return input.trim()
}

function parseItems(input: unknown): string[] {
  const items = Array.isArray(input) ? input.map(requireText) : requireText(input).split(',')
  return items.map((item) => item.trim()).filter((item) => item !== '')
}

function isObject(input: unknown): input is Record<string, unknown> {
  return typeof input === 'object' && input !== null && !Array.isArray(input)
}

function checkNetwork(text: string): void {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  const most = version === 6 ? 128 : 32
  if (version === 0 || rest.length > 0) throw new InvalidValue('not an address')
  if (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= most)) throw new InvalidValue('not a network')
}
