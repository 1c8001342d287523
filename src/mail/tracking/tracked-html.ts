import { decodeHTMLAttribute } from 'entities'
import type { TokenizerCallbacks } from 'htmlparser2'
import { TURN_MS, yieldIfHeld } from '../../platform/concurrency/event-loop.ts'

interface TrackedHtml {
  html: string
  /** The targets of the tracked links, without duplicates. The first has number 1. */
  links: string[]
}

/** Further and longer targets stay as they are. */
const MAX_LINKS = 500
const MAX_URL = 2048
const CHUNK = 64 * 1024

/**
 * Replaces the web addresses that links lead to by `linkUrl(number)` and inserts the pixel at the end of the body. Leaves every
 * other byte as it is, so that what the application wrote is what people see.
 */
export async function trackedHtml(
  html: string,
  { pixel, linkUrl }: { pixel: string; linkUrl(number: number): string },
): Promise<TrackedHtml> {
  const { targets, bodyEnd } = await scan(html)
  const numbers = new Map<string, number>()
  const parts: string[] = []
  let at = 0
  for (const { start, end, isQuoted } of targets) {
    const url = trackable(html.slice(start, end))
    if (url === undefined || (numbers.size === MAX_LINKS && !numbers.has(url))) continue
    const number = numbers.get(url) ?? numbers.size + 1
    numbers.set(url, number)
    parts.push(html.slice(at, start), isQuoted ? linkUrl(number) : `"${linkUrl(number)}"`)
    at = end
  }
  parts.push(html.slice(at, Math.max(at, bodyEnd)), pixel, html.slice(Math.max(at, bodyEnd)))
  return { html: parts.join(''), links: [...numbers.keys()] }
}

/** The address that a browser would open, if it is one of the web. */
function trackable(attribute: string): string | undefined {
  const url = decodeHTMLAttribute(attribute)
    .replace(/[\t\n\r]/g, '')
    .trim()
  if (url.length > MAX_URL || !/^https?:\/\//i.test(url)) return undefined
  return URL.canParse(url) ? url : undefined
}

interface Target {
  start: number
  end: number
  isQuoted: boolean
}

/** Finds the `href` of links, and where the body ends. Positions are indexes of `html`. */
async function scan(html: string): Promise<{ targets: Target[]; bodyEnd: number }> {
  // Loaded with the first tracked message.
  const { QuoteType, Tokenizer } = await import('htmlparser2')
  const targets: Target[] = []
  const ends = new Map<string, number>()
  let isLink = false
  let isHref = false
  let value: { start: number; end: number } | undefined
  const nothing = () => {}
  const callbacks: TokenizerCallbacks = {
    onopentagname(start, end) {
      isLink = /^(a|area)$/i.test(html.slice(start, Math.min(end, start + 5)))
      isHref = false
    },
    onattribname(start, end) {
      // A browser ignores a second attribute of the same name.
      isHref = isLink && end - start === 4 && html.slice(start, end).toLowerCase() === 'href'
      value = undefined
    },
    onattribdata(start, end) {
      if (isHref) value = { start: value?.start ?? start, end }
    },
    onattribend(quote) {
      if (!isHref || value === undefined) return
      targets.push({ ...value, isQuoted: quote !== QuoteType.Unquoted })
      isLink = false
      isHref = false
    },
    onclosetag(start, end) {
      const name = html.slice(start, Math.min(end, start + 5)).toLowerCase()
      if (name === 'body' || name === 'html') ends.set(name, start - 2)
    },
    onattribentity: nothing,
    oncdata: nothing,
    oncomment: nothing,
    ondeclaration: nothing,
    onend: nothing,
    onopentagend: nothing,
    onprocessinginstruction: nothing,
    onselfclosingtag: nothing,
    ontext: nothing,
    ontextentity: nothing,
  }
  const tokenizer = new Tokenizer({ decodeEntities: false }, callbacks)
  for (let at = 0; at < html.length; at += CHUNK) {
    tokenizer.write(html.slice(at, at + CHUNK))
    await yieldIfHeld(TURN_MS)
  }
  tokenizer.end()
  return { targets, bodyEnd: ends.get('body') ?? ends.get('html') ?? html.length }
}
