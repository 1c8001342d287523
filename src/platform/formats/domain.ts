import { domainToASCII } from 'node:url'

const FOREIGN_ASCII = /[^A-Za-z0-9._\-\u0080-\u{10ffff}]/u
const DOMAIN = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/

/**
 * A domain name in lower-case ASCII (punycode), so that two spellings give one name. Undefined for any other text. `domainToASCII`
 * alone would read a host of a URL: it cuts `a.example/b` at the slash and decodes `%61`. Also returns IPv4 addresses.
 */
export function asciiDomain(text: string): string | undefined {
  if (FOREIGN_ASCII.test(text)) return undefined
  const ascii = domainToASCII(text)
  return DOMAIN.test(ascii) ? ascii : undefined
}
