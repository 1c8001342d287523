import { isEmailAddress } from '../../../platform/formats/email-address.ts'

/** Addresses that can be entered at a time. */
export const MAX_ADDRESSES = 10
const MAX_ENTERED_CHARS = 4000
const MAX_ADDRESS_CHARS = 320

export interface EnteredAddresses {
  addresses: string[]
  invalid: string[]
  isTooMany: boolean
}

/** Splits what the user entered, by lines, commas or semicolons, and by spaces between addresses. Names each address once, in any case. */
export function parseEntered(entered: unknown): EnteredAddresses {
  const text = typeof entered === 'string' ? entered : ''
  const parts = new Map<string, string>()
  for (const line of text.slice(0, MAX_ENTERED_CHARS).split(/[\r\n,;]+/)) {
    for (const part of splitLine(line.trim())) {
      if (part !== '' && !parts.has(part.toLowerCase())) parts.set(part.toLowerCase(), part.slice(0, MAX_ADDRESS_CHARS))
    }
  }
  const all = [...parts.values()]
  return {
    addresses: all.filter(isEmailAddress),
    invalid: all.filter((part) => !isEmailAddress(part)),
    isTooMany: all.length > MAX_ADDRESSES || text.length > MAX_ENTERED_CHARS,
  }
}

/** `Support <support@example.com>`, as Outlook copies it, is one address. */
function splitLine(line: string): string[] {
  const named = /<([^<>]+)>$/.exec(line)?.[1]
  if (named !== undefined) return [named.trim()]
  const words = line.split(/\s+/)
  return words.every(isEmailAddress) ? words : [line]
}
