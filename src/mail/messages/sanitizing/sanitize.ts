import type { TokenizerCallbacks } from 'htmlparser2'
import { TURN_MS, yieldIfHeld } from '../../../platform/concurrency/event-loop.ts'
import { containHtml } from './containment.ts'
import { beginsAgain, depthBefore } from './nesting.ts'
import { type OpenElement, OpenElements } from './open-elements.ts'
import { ATTRIBUTES, barriers, ELEMENTS, imageSource, linkTarget, SKIPPED_ELEMENTS, VOID_ELEMENTS } from './policy.ts'
import { safeStyle } from './style.ts'

/** Longer texts, in characters, are not sanitised. */
const MAX_LENGTH = 5_000_000
const MAX_RESULT = 10_000_000
/** Read without a pause, in about a millisecond. */
const CHUNK = 16 * 1024
/** Deeper elements lose their tags. Browsers nest 512. */
const MAX_DEPTH = 256
const MAX_NAME = 16
/** Start tags that are repeated, and their length. */
const MAX_REPEATED = 3
const MAX_REPEATED_LENGTH = 500
/** Longer attributes are left out, except for the data of an image. */
const MAX_VALUE = 16 * 1024

/** An HTML body in a form that is safe to show inside a page of the application. Undefined when the text is too long. */
export async function sanitizeHtml(html: string): Promise<string | undefined> {
  const fragment = await sanitizeFragment(html)
  return fragment === undefined ? undefined : containHtml(fragment)
}

/**
 * The harmless part of an HTML body. It is written anew, never copied: tags and attribute names come from the lists in `policy.ts`,
 * everything between them is escaped, and no element on the list changes how a browser reads what follows. So a browser finds
 * exactly these tags, however the sender wrote them. Every element that a browser would close by itself is closed, and every
 * start tag that it would ignore is left out, so no end tag is one of an element around the result.
 */
export async function sanitizeFragment(html: string): Promise<string | undefined> {
  if (html.length > MAX_LENGTH) return undefined
  const { Tokenizer } = await import('htmlparser2')
  const writer = new SafeWriter()
  const tokenizer = new Tokenizer({ decodeEntities: true }, callbacks(html, writer))
  for (let at = 0; at < html.length; at += CHUNK) {
    tokenizer.write(html.slice(at, at + CHUNK))
    if (writer.length > MAX_RESULT) return undefined
    await yieldIfHeld(TURN_MS)
  }
  tokenizer.end()
  const safe = await writer.end()
  return safe.length > MAX_RESULT ? undefined : safe
}

/** Turns positions in `html` into tags and texts for the writer. */
function callbacks(html: string, writer: SafeWriter): TokenizerCallbacks {
  const nothing = () => {}
  const nameAt = (start: number, end: number) => (end - start > MAX_NAME ? '' : html.slice(start, end).toLowerCase())
  let name = ''
  let attributes = new Map<string, string>()
  let attribute = ''
  let value: string[] = []
  let valueLength = 0
  const add = (text: string) => {
    valueLength += text.length
    if (valueLength > MAX_VALUE && attribute !== 'src') attribute = ''
    if (attribute !== '') value.push(text)
  }
  const isWanted = () => (ELEMENTS.has(name) || name === 'body') && !writer.isSkipping
  const open = () => writer.open(name, attributes)
  return {
    onopentagname(start, end) {
      name = nameAt(start, end)
      attributes = new Map()
    },
    onattribname(start, end) {
      const attributeName = isWanted() ? nameAt(start, end) : ''
      // A browser ignores a second attribute of the same name.
      attribute = isKnown(name, attributeName) && !attributes.has(attributeName) ? attributeName : ''
      value = []
      valueLength = 0
    },
    onattribdata: (start, end) => add(html.slice(start, end)),
    onattribentity: (codePoint) => add(String.fromCodePoint(codePoint)),
    onattribend() {
      if (attribute !== '') attributes.set(attribute, value.join(''))
    },
    onopentagend: open,
    // HTML has no other self-closing elements than those of SVG and MathML.
    onselfclosingtag: () => (name === 'svg' || name === 'math' ? undefined : open()),
    onclosetag: (start, end) => writer.close(nameAt(start, end)),
    ontext: (start, end) => writer.text(html.slice(start, end)),
    ontextentity: (codePoint) => writer.text(String.fromCodePoint(codePoint)),
    oncdata: nothing,
    oncomment: nothing,
    ondeclaration: nothing,
    onprocessinginstruction: nothing,
    onend: nothing,
  }
}

function isKnown(element: string, attribute: string): boolean {
  if (attribute === 'href') return element === 'a'
  if (attribute === 'src') return element === 'img'
  return attribute === 'style' || ATTRIBUTES.has(attribute)
}

/** Joined at once. Joining the millions of parts of a hostile text at its end would hold the event loop. */
const JOINED_PARTS = 1000

const NOTHING: readonly OpenElement[] = []

class SafeWriter {
  readonly #parts: string[] = []
  #newParts: string[] = []
  /** Texts that are escaped at the end, in turns, by their index in `#parts`. */
  readonly #longTexts = new Map<number, string>()
  readonly #open = new OpenElements()
  #skipped = ''
  #skippedDepth = 0
  length = 0

  /** Inside an element that goes with its content. */
  get isSkipping(): boolean {
    return this.#skippedDepth > 0
  }

  open(elementName: string, attributes: ReadonlyMap<string, string>): void {
    if (this.isSkipping) {
      if (elementName === this.#skipped) this.#skippedDepth += 1
      return
    }
    if (SKIPPED_ELEMENTS.has(elementName)) {
      this.#skipped = elementName
      this.#skippedDepth = 1
      return
    }
    // The page of the application has a body already. This one's colours and fonts stay.
    const name = elementName === 'body' ? 'div' : elementName
    if (!ELEMENTS.has(name)) return
    // An anchor that leads nowhere would end a link around it.
    const leadsNowhere = name === 'a' && linkTarget(attributes.get('href') ?? '') === undefined
    const element = leadsNowhere ? 'span' : name
    const depth = depthBefore(element, this.#open)
    if (depth === undefined) return
    const closed = this.#open.depth > depth ? this.#closeTo(depth) : NOTHING
    this.#begin({ name, element, startTag: `<${element}${formatAttributes(attributes)}>` })
    if (closed.length === 0) return
    const repeated = closed.filter(
      (opened) => beginsAgain(opened.element, element) && opened.startTag.length <= MAX_REPEATED_LENGTH,
    )
    for (const opened of repeated.slice(-MAX_REPEATED)) this.#begin(opened)
  }

  close(name: string): void {
    if (this.isSkipping) {
      if (name === this.#skipped) this.#skippedDepth -= 1
      return
    }
    const at = this.#open.lastNamed(name)
    if (at === -1 || barriers(name).some((barrier) => this.#open.lastNamed(barrier) > at)) return
    this.#closeTo(at)
  }

  text(text: string): void {
    if (this.isSkipping) return
    if (text.length <= CHUNK) {
      this.#write(escaped(text))
      return
    }
    // The tokenizer reports a row of ampersands as one text, after megabytes of them.
    this.#join()
    this.#longTexts.set(this.#parts.push('') - 1, text)
    this.length += text.length
  }

  async end(): Promise<string> {
    this.#closeTo(0)
    this.#join()
    for (const [index, text] of this.#longTexts) this.#parts[index] = await escapedInTurns(text)
    return this.#parts.join('')
  }

  #begin(started: OpenElement): void {
    const isVoid = VOID_ELEMENTS.has(started.element)
    if (!isVoid && this.#open.depth >= MAX_DEPTH) return
    this.#write(started.startTag)
    if (!isVoid) this.#open.push(started)
  }

  /** Returns what it closed, outermost first. */
  #closeTo(depth: number): OpenElement[] {
    const closed: OpenElement[] = []
    while (this.#open.depth > depth) {
      const element = this.#open.pop()
      if (element === undefined) break
      this.#write(`</${element.element}>`)
      closed.unshift(element)
    }
    return closed
  }

  #write(part: string): void {
    this.length += part.length
    if (this.#newParts.push(part) === JOINED_PARTS) this.#join()
  }

  #join(): void {
    this.#parts.push(this.#newParts.join(''))
    this.#newParts = []
  }
}

function formatAttributes(attributes: ReadonlyMap<string, string>): string {
  let text = ''
  for (const [name, rawValue] of attributes) {
    const value = safeValue(name, rawValue)
    if (value === undefined) continue
    text += ` ${name}="${escaped(value)}"`
    if (name === 'href') text += ' target="_blank" rel="noopener noreferrer nofollow"'
  }
  return text
}

function safeValue(name: string, value: string): string | undefined {
  if (name === 'href') return linkTarget(value)
  if (name === 'src') return imageSource(value)
  if (name === 'style') return safeStyle(value) || undefined
  return value
}

function escaped(text: string): string {
  return /[&<>"'`]/.test(text) ? text.replace(/[&<>"'`]/g, (character) => ESCAPES[character] ?? '') : text
}

async function escapedInTurns(text: string): Promise<string> {
  const parts: string[] = []
  for (let at = 0; at < text.length; at += CHUNK) {
    parts.push(escaped(text.slice(at, at + CHUNK)))
    await yieldIfHeld(TURN_MS)
  }
  return parts.join('')
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}
