import { ProviderError } from '../contract/index.ts'

/** How much may stand before the member. */
const BEFORE_LIMIT = 256 * 1024
const NOT_BASE64 = /[^A-Za-z0-9+/_-]/

/**
 * The bytes of a base64url string in a JSON object, as the answer arrives: a mail of 50 MB is never in memory as a whole. Throws
 * `unavailable` for an answer without it, or that breaks off.
 */
export async function* base64Member(
  chunks: AsyncIterable<Buffer>,
  name: string,
  doing: string,
): AsyncGenerator<Buffer> {
  const opening = new RegExp(`"${name}"\\s*:\\s*"`)
  let text = ''
  let isInside = false
  let isOver = false
  for await (const chunk of chunks) {
    // The little behind it is read too: then the connection can be used again.
    if (isOver) continue
    text += chunk.toString('latin1')
    if (!isInside) {
      const found = opening.exec(text)
      if (found === null && text.length > BEFORE_LIMIT) break
      if (found === null) continue
      text = text.slice(found.index + found[0].length)
      isInside = true
    }
    // Padding ends it as well as the quote; Google writes it as an escape.
    const end = text.search(NOT_BASE64)
    if (end !== -1) {
      if (!'"=\\'.includes(text[end] ?? '')) break
      isOver = true
      yield Buffer.from(text.slice(0, end), 'base64url')
      continue
    }
    const whole = text.length - (text.length % 4)
    if (whole > 0) yield Buffer.from(text.slice(0, whole), 'base64url')
    text = text.slice(whole)
  }
  if (!isOver) throw new ProviderError('unavailable', `${doing}: the answer could not be read`)
}
