import { TURN_MS, yieldIfHeld } from '../../lib/event-loop.ts'
import { ProviderError } from '../contract/index.ts'

/** An element of a WebDAV response, named by the prefix below: `D:href`. Unknown namespaces have the prefix `x`. */
export interface DavElement {
  name: string
  /** The attribute `name`, the only one that matters here (`<C:comp name="VEVENT"/>`). */
  nameAttribute: string
  children: DavElement[]
  text: string
}

/** One resource of a multistatus. */
export interface DavResource {
  href: string
  /** Of the resource itself; 200 where the status is given per property. */
  status: number
  /** The properties that were found, by name. */
  properties: Map<string, DavElement>
}

export interface DavDocument {
  resources: DavResource[]
  syncToken: string | undefined
  /** Preconditions of an error body, such as `D:valid-sync-token`. */
  errors: string[]
}

const PREFIXES = new Map([
  ['DAV:', 'D'],
  ['urn:ietf:params:xml:ns:caldav', 'C'],
  ['http://calendarserver.org/ns/', 'CS'],
  ['http://apple.com/ns/ical/', 'A'],
])

const CHUNK_BYTES = 64 * 1024
const MAX_DEPTH = 24
/** A property such as the privileges has about 30. */
const MAX_ELEMENTS = 2000
const MAX_ATTRIBUTES = 30
const MAX_RESOURCES = 50_000

/**
 * Reads a multistatus or an error body of WebDAV. Gives the event loop its turns, keeps only the properties of a resource,
 * and throws `limit_exceeded` for a document that no server sends. Text that is not such a document gives an empty result.
 */
export async function parseDav(body: Uint8Array, doing: string): Promise<DavDocument> {
  // The parser takes some time to load, and most accounts need none.
  const { Parser } = await import('htmlparser2')
  const reader = new DocumentReader(doing)
  const parser = new Parser(reader, { xmlMode: true })
  const decoder = new TextDecoder()
  for (let at = 0; at < body.length; at += CHUNK_BYTES) {
    parser.write(decoder.decode(body.subarray(at, at + CHUNK_BYTES), { stream: true }))
    await yieldIfHeld(TURN_MS)
  }
  parser.end(decoder.decode())
  return reader.document
}

export function child(element: DavElement | undefined, ...path: string[]): DavElement | undefined {
  return path.reduce<DavElement | undefined>((at, name) => at?.children.find((each) => each.name === name), element)
}

class DocumentReader {
  readonly document: DavDocument = { resources: [], syncToken: undefined, errors: [] }
  readonly #doing: string
  /** Prefixes of the document; those declared at a depth are forgotten when its element ends. */
  readonly #namespaces: { depth: number; prefix: string; namespace: string }[] = []
  /** From the root down. The root has no children: those are handed over one by one. */
  readonly #open: DavElement[] = []
  #declared: { prefix: string; namespace: string }[] = []
  #nameAttribute = ''
  #attributes = 0
  #elements = 0

  constructor(doing: string) {
    this.#doing = doing
  }

  onopentagname(): void {
    this.#declared = []
    this.#nameAttribute = ''
    this.#attributes = 0
  }

  onattribute(name: string, value: string): void {
    this.#attributes += 1
    if (this.#attributes > MAX_ATTRIBUTES) this.#refuse()
    if (name === 'name') this.#nameAttribute = value
    else if (name === 'xmlns' || name.startsWith('xmlns:')) {
      this.#declared.push({ prefix: name.slice('xmlns:'.length), namespace: value })
    }
  }

  onopentag(tag: string): void {
    this.#elements += 1
    if (this.#open.length >= MAX_DEPTH || this.#elements > MAX_ELEMENTS) this.#refuse()
    for (const declared of this.#declared) this.#namespaces.push({ ...declared, depth: this.#open.length })
    this.#open.push({ name: this.#named(tag), nameAttribute: this.#nameAttribute, children: [], text: '' })
  }

  ontext(text: string): void {
    const element = this.#open.at(-1)
    // The text of the root is white space.
    if (element !== undefined && this.#open.length > 1) element.text += text
  }

  onclosetag(): void {
    const element = this.#open.pop()
    while ((this.#namespaces.at(-1)?.depth ?? -1) >= this.#open.length) this.#namespaces.pop()
    if (element === undefined) return
    if (this.#open.length > 1) this.#open.at(-1)?.children.push(element)
    else if (this.#open.length === 1) this.#take(this.#open[0]?.name, element)
  }

  #named(tag: string): string {
    const colon = tag.indexOf(':')
    const prefix = colon < 0 ? '' : tag.slice(0, colon)
    const namespace = this.#namespaces.findLast((each) => each.prefix === prefix)?.namespace ?? ''
    return `${PREFIXES.get(namespace) ?? 'x'}:${tag.slice(colon + 1)}`
  }

  /** A child of the root. */
  #take(root: string | undefined, element: DavElement): void {
    this.#elements = 0
    if (root === 'D:error') this.document.errors.push(element.name)
    else if (root !== 'D:multistatus') return
    else if (element.name === 'D:sync-token') this.document.syncToken = element.text.trim()
    else if (element.name === 'D:response') this.document.resources.push(...resourcesOf(element))
    if (this.document.resources.length > MAX_RESOURCES) this.#refuse()
  }

  #refuse(): never {
    throw new ProviderError('limit_exceeded', `${this.#doing}: the response of the CalDAV server is too large`)
  }
}

/** A response may name several resources that share a status. */
function resourcesOf(response: DavElement): DavResource[] {
  const properties = new Map<string, DavElement>()
  for (const propstat of response.children.filter(({ name }) => name === 'D:propstat')) {
    if (statusOf(propstat) !== 200) continue
    for (const property of child(propstat, 'D:prop')?.children ?? []) properties.set(property.name, property)
  }
  return response.children
    .filter(({ name }) => name === 'D:href')
    .map(({ text }) => ({ href: text.trim(), status: statusOf(response), properties }))
}

/** `HTTP/1.1 404 Not Found` */
function statusOf(element: DavElement): number {
  const line = child(element, 'D:status')?.text ?? ''
  return Number(/\s(\d{3})(?:\s|$)/.exec(line)?.[1] ?? 200)
}
