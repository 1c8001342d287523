/**
 * The one check of email addresses in requests, forms and pages. It follows RFC 5321 and RFC 6531: characters outside ASCII may be
 * on both sides of the `@`. Addresses in received messages are another matter: they are shown as they are.
 */
import { asciiDomain } from './domain.ts'

interface EmailAddress {
  /** With quotes where RFC 5321 requires them, and only there. */
  local: string
  /** In lower-case ASCII (punycode). */
  domain: string
}

/** In octets of UTF-8 (RFC 5321): 64 for the local part, 254 for the address. */
const MAX_LOCAL_BYTES = 64
const MAX_BYTES = 254
/** In a longer text no address is looked for. */
const MAX_CHARS = 1000

/**
 * RFC 6531 adds every character outside ASCII to those of RFC 5321. Left out are those that nobody can see or enter: spaces, control
 * characters, marks of direction, unassigned ones. U+200C and U+200D are parts of words in several scripts.
 */
const FOREIGN = String.raw`[\u200c\u200d]|(?![\0-\x7f])[^\p{C}\p{Z}]`
const ATOM = `(?:[\\w!#$%&'*+/=?^\`{|}~-]|${FOREIGN})+`
const DOT_ATOM = new RegExp(`^${ATOM}(?:\\.${ATOM})*$`, 'u')
/** As Japanese mobile operators assigned them: `taro..yamada.@docomo.example`. RFC 5321 requires quotes around these dots. */
const LOOSE_DOT_ATOM = new RegExp(`^\\.*${ATOM}(?:\\.+${ATOM})*\\.*$`, 'u')
const QUOTED_LOCAL = /^"((?:[^"\\]|\\.)*)"$/
/**
 * Not only dots. Programs disagree about `<>"\` in a local part, and headers that are folded lose spaces in a row, so such an address
 * might reach somebody else.
 */
const QUOTED_CONTENT = new RegExp(String.raw`^(?=.*[^.])(?:[\x20!\x23-;=?-[\]-~]|${FOREIGN})+$`, 'u')
const HIDDEN_SPACE = /^ | $| {2}/
const NUMBER_LABEL = /(^|\.)\d+$/

export const NO_ADDRESS = 'must be an email address'
const TOO_LONG = 'is longer than an email address may be'

/** The address of one mailbox without a display name, or why the text is none. `problem` continues the name of a field. */
export function parseEmailAddress(
  text: string,
): { address: EmailAddress; problem?: undefined } | { address?: undefined; problem: string } {
  if (text.length > MAX_CHARS) return { problem: TOO_LONG }
  const at = text.lastIndexOf('@')
  const local = localPart(text.slice(0, Math.max(0, at)))
  const domain = asciiDomain(text.slice(at + 1))
  // A name that ends in a number is an IPv4 address.
  if (local === undefined || domain === undefined || NUMBER_LABEL.test(domain)) return { problem: NO_ADDRESS }
  const localBytes = Buffer.byteLength(local)
  if (localBytes > MAX_LOCAL_BYTES || localBytes + 1 + domain.length > MAX_BYTES) return { problem: TOO_LONG }
  return { address: { local, domain } }
}

/** The address with its domain in ASCII, as servers and Message-IDs need it. Any other text is returned as it is. */
export function asciiEmail(email: string): string {
  const { address } = parseEmailAddress(email)
  return address === undefined ? email : `${address.local}@${address.domain}`
}

export function isEmailAddress(text: string): boolean {
  return parseEmailAddress(text).address !== undefined
}

/** Whether only servers with SMTPUTF8 (RFC 6531) can deliver to the address: its domain has an ASCII form, its local part has none. */
export function needsSmtpUtf8(email: string): boolean {
  return /[^\0-\x7f]/.test(email.slice(0, Math.max(0, email.lastIndexOf('@'))))
}

/** Two spellings of a local part give one recipient. */
function localPart(text: string): string | undefined {
  if (DOT_ATOM.test(text)) return text
  const content = LOOSE_DOT_ATOM.test(text) ? text : QUOTED_LOCAL.exec(text)?.[1]?.replace(/\\(.)/g, '$1')
  if (content === undefined || !QUOTED_CONTENT.test(content) || HIDDEN_SPACE.test(content)) return undefined
  return DOT_ATOM.test(content) ? content : `"${content}"`
}
