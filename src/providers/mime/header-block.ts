import { cleanText } from '../../lib/text.ts'

export interface Header {
  name: string
  /** Unfolded, not decoded: encoded words stand as they came. */
  value: string
}

/** The fields of a raw header block, in order. Lines that are no field and continue none are left out. */
export function parseHeaders(block: Buffer): Header[] {
  const headers: Header[] = []
  for (const line of decodeBytes(block).split(/\r\n|\n|\r/)) {
    const last = headers.at(-1)
    if (/^[ \t]/.test(line)) {
      if (last !== undefined) last.value += ` ${line.trim()}`
      continue
    }
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).trim()
    if (colon > 0 && /^[\x21-\x7e]+$/.test(name)) headers.push({ name, value: cleanText(line.slice(colon + 1)).trim() })
  }
  return headers
}

/** The first field of this name, as it came. */
export function headerValue(headers: readonly Header[], name: string): string | undefined {
  return headers.find((header) => header.name.toLowerCase() === name)?.value
}

/** All fields of this name as one: address lists are sometimes sent in several. */
export function headerValues(headers: readonly Header[], name: string): string {
  return headers
    .filter((header) => header.name.toLowerCase() === name)
    .map((header) => header.value)
    .join(', ')
}

/** Bytes of no declared charset: UTF-8 where they are (RFC 6532), maybe cut off, else what old programs mostly mean. */
export function decodeBytes(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
