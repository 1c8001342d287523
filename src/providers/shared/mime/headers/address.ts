import { NO_ADDRESS, parseEmailAddress } from '../../../../platform/formats/email-address.ts'
import type { RemoteAddress } from '../../../contract/index.ts'

export type ParsedAddress = { address: RemoteAddress; problem?: undefined } | { address?: undefined; problem: string }

const MAX_TEXT = 2000
const MAX_NAME = 500

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/
const QUOTED = /^"((?:[^"\\]|\\.)*)"$/

/**
 * Parses the one recipient in a field of the API: `ada@example.com`, `Ada <ada@example.com>` or `"Okafor, Ada" <ada@example.com>`.
 * Strict, unlike the parser of received headers, because the result decides who gets a message: lists, groups, comments, source
 * routes and control characters are problems. The local part may have characters outside ASCII; the domain becomes lower-case ASCII (punycode). `problem` continues the field's name.
 */
export function parseAddress(text: string): ParsedAddress {
  if (text.length > MAX_TEXT) return { problem: `must not be longer than ${MAX_TEXT} characters` }
  if (!text.isWellFormed() || CONTROL.test(text)) return { problem: 'must not contain control characters' }
  const trimmed = text.trim()
  if (!trimmed.endsWith('>')) return checkParts('', trimmed)
  const open = trimmed.lastIndexOf('<')
  if (open === -1) return NOT_AN_ADDRESS
  const name = displayName(trimmed.slice(0, open).trim())
  if (name === undefined) return { problem: 'must quote a name that contains any of ()<>[]:;@\\,"' }
  return checkParts(name, trimmed.slice(open + 1, -1).trim())
}

/** Checks an address whose name is given apart from it. */
export function checkAddress({ name, email }: RemoteAddress): ParsedAddress {
  if (!name.isWellFormed() || CONTROL.test(name)) return { problem: 'must not contain control characters' }
  return checkParts(name.trim(), email.trim())
}

const NOT_AN_ADDRESS: ParsedAddress = {
  problem: 'must be one email address, such as ada@example.com or "Okafor, Ada" <ada@example.com>',
}

function checkParts(name: string, email: string): ParsedAddress {
  if (name.length > MAX_NAME) return { problem: `must not have a name of more than ${MAX_NAME} characters` }
  const { address, problem } = parseEmailAddress(email)
  if (address === undefined) return problem === NO_ADDRESS ? NOT_AN_ADDRESS : { problem }
  return { address: { name, email: `${address.local}@${address.domain}` } }
}

/** Undefined for a name that must be quoted and is not, or whose quotes do not match. */
function displayName(text: string): string | undefined {
  const quoted = QUOTED.exec(text)?.[1]
  if (quoted !== undefined) return quoted.replace(/\\(.)/g, '$1').trim()
  return /[()<>[\]:;@\\,"]/.test(text) ? undefined : text
}
