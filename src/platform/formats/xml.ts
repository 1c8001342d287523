import { TURN_MS, yieldIfHeld } from '../concurrency/event-loop.ts'

/** An element of an XML document, with everything in it. */
export interface XmlElement {
  name: string
  /** Without declarations of namespaces. */
  attributes: ReadonlyMap<string, string>
  children: XmlElement[]
  /** The text directly in it, without that of its children. */
  text: string
}

interface XmlOptions {
  limits: XmlLimits
  /** The name of an element in the result. `namespace` is empty when the document declares none. */
  qualifyName(namespace: string, localName: string): string
  /** Called with each element directly inside the root, in order, as soon as it ends. */
  onElement(element: XmlElement, rootName: string): void
  /** Called once, at the end, when the document ends within its root. An element that is not complete is left out. */
  onCut?(): void
  /** Ends reading: `readXml` then rejects with its reason. */
  signal?: AbortSignal | undefined
}

export interface XmlLimits {
  bytes: number
  /** Levels of nested elements, the root included. */
  depth: number
  /** All elements of the document. */
  elements: number
  /** Elements within one element directly inside the root. */
  elementsOfOne: number
  /** Attributes of one element. */
  attributes: number
  /** Declarations of namespaces that apply to one element. */
  namespaces: number
}

/** The document exceeds this limit. */
export class XmlLimitError extends Error {
  override name = 'XmlLimitError'
  readonly limit: keyof XmlLimits
  constructor(limit: keyof XmlLimits) {
    super(`the XML document exceeds the limit of ${limit}`)
    this.limit = limit
  }
}

/** Parsed without a pause, in about two milliseconds. */
const CHUNK_BYTES = 16 * 1024

/**
 * Reads an XML document in UTF-8 over as many turns of the event loop as it takes; its time is linear in the bytes, whatever they are.
 * Text that is not well-formed gives the elements that it has, because some servers write such text. Entities of the document are never
 * expanded. Rejects with `XmlLimitError`.
 */
export async function readXml(body: Uint8Array, options: XmlOptions): Promise<void> {
  for await (const _ of xmlChunks(body, options));
}

/** Reads a document as `readXml` does. The caller handles the elements of each chunk before the next one is parsed. */
export async function* xmlChunks(body: Uint8Array, options: XmlOptions): AsyncGenerator<void, void> {
  if (body.length > options.limits.bytes) throw new XmlLimitError('bytes')
  // The parser takes some time to load, and most accounts need none.
  const { Parser } = await import('htmlparser2')
  const builder = new TreeBuilder(options)
  const parser = new Parser(builder, { xmlMode: true })
  const decoder = new TextDecoder()
  for (let at = 0; at < body.length; at += CHUNK_BYTES) {
    parser.write(decoder.decode(body.subarray(at, at + CHUNK_BYTES), { stream: true }))
    yield
    await yieldIfHeld(TURN_MS)
    options.signal?.throwIfAborted()
  }
  parser.write(decoder.decode())
  if (builder.isOpen) options.onCut?.()
  yield
}

const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map()

/** Receives the events of the parser. Keeps one element of the root at a time. */
class TreeBuilder {
  readonly #options: XmlOptions
  readonly #namespaces: NamespaceScopes
  /** From the root down. */
  readonly #open: XmlElement[] = []
  #attributes: Map<string, string> | undefined
  #attributeCount = 0
  #elements = 0
  #elementsOfOne = 0

  constructor(options: XmlOptions) {
    this.#options = options
    this.#namespaces = new NamespaceScopes(options.limits.namespaces)
  }

  get isOpen(): boolean {
    return this.#open.length > 0
  }

  onopentagname(): void {
    const { depth, elements, elementsOfOne } = this.#options.limits
    if (this.#open.length >= depth) throw new XmlLimitError('depth')
    this.#elements += 1
    if (this.#elements > elements) throw new XmlLimitError('elements')
    this.#elementsOfOne = this.#open.length <= 1 ? 1 : this.#elementsOfOne + 1
    if (this.#elementsOfOne > elementsOfOne) throw new XmlLimitError('elementsOfOne')
    this.#namespaces.enter()
    this.#attributes = undefined
    this.#attributeCount = 0
  }

  onattribute(name: string, value: string): void {
    this.#attributeCount += 1
    if (this.#attributeCount > this.#options.limits.attributes) throw new XmlLimitError('attributes')
    if (name === 'xmlns' || name.startsWith('xmlns:')) {
      this.#namespaces.declare(name.slice('xmlns:'.length), value)
      return
    }
    this.#attributes ??= new Map()
    this.#attributes.set(name, value)
  }

  onopentag(tag: string): void {
    const colon = tag.indexOf(':')
    const namespace = this.#namespaces.find(colon === -1 ? '' : tag.slice(0, colon))
    this.#open.push({
      name: this.#options.qualifyName(namespace, tag.slice(colon + 1)),
      attributes: this.#attributes ?? NO_ATTRIBUTES,
      children: [],
      text: '',
    })
  }

  ontext(text: string): void {
    const element = this.#open.at(-1)
    // The text of the root is white space.
    if (element !== undefined && this.#open.length > 1) element.text += text
  }

  onclosetag(): void {
    const element = this.#open.pop()
    if (element === undefined) return
    this.#namespaces.leave()
    const parent = this.#open.at(-1)
    if (parent === undefined) return
    if (this.#open.length === 1) this.#options.onElement(element, parent.name)
    else parent.children.push(element)
  }
}

/** The namespaces of prefixes. Finding one takes constant time, however many are declared. */
class NamespaceScopes {
  readonly #max: number
  readonly #current = new Map<string, string>()
  /** Prefixes that the open elements declared, and what each meant before. */
  readonly #declared: { depth: number; prefix: string; before: string | undefined }[] = []
  #depth = 0

  constructor(max: number) {
    this.#max = max
  }

  find(prefix: string): string {
    return this.#current.get(prefix) ?? ''
  }

  enter(): void {
    this.#depth += 1
  }

  declare(prefix: string, namespace: string): void {
    if (this.#declared.length >= this.#max) throw new XmlLimitError('namespaces')
    this.#declared.push({ depth: this.#depth, prefix, before: this.#current.get(prefix) })
    this.#current.set(prefix, namespace)
  }

  leave(): void {
    for (let last = this.#declared.at(-1); last?.depth === this.#depth; last = this.#declared.at(-1)) {
      this.#declared.pop()
      if (last.before === undefined) this.#current.delete(last.prefix)
      else this.#current.set(last.prefix, last.before)
    }
    this.#depth -= 1
  }
}
