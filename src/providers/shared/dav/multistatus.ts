import { type XmlElement, XmlLimitError, type XmlLimits, xmlChunks } from '../../../platform/formats/xml.ts'
import { ProviderError } from '../../contract/index.ts'

/** One resource of a multistatus. */
export interface DavResource {
  href: string
  /** The status of the resource itself; 200 where the status is given per property. */
  status: number
  /** The properties that were found, by name. */
  properties: Map<string, XmlElement>
  /** The statuses of the other properties, by name. */
  refused: Map<string, number>
}

export interface DavDocument {
  resources: DavResource[]
  syncToken: string | undefined
  /** Preconditions of an error body, such as `D:valid-sync-token`. */
  errors: string[]
  /** The document ends early. */
  isCut: boolean
}

const PREFIXES = new Map([
  ['DAV:', 'D'],
  ['urn:ietf:params:xml:ns:caldav', 'C'],
  ['urn:ietf:params:xml:ns:carddav', 'CR'],
  ['http://calendarserver.org/ns/', 'CS'],
  ['http://apple.com/ns/ical/', 'A'],
])

/** A property such as the privileges has about 30 elements, and a document declares a handful of namespaces. */
const LIMITS: XmlLimits = {
  bytes: 16 * 1024 * 1024,
  depth: 24,
  elements: 1_000_000,
  elementsOfOne: 2000,
  attributes: 30,
  namespaces: 100,
}
const MAX_RESOURCES = 50_000

/**
 * Reads a multistatus or an error body of WebDAV over as many turns of the event loop as it takes. Elements are named by the prefixes above:
 * `D:href`. Throws `limit_exceeded` for a document that no server sends. Text that is not such a document gives an empty result.
 */
export async function parseDav(body: Uint8Array, doing: string, signal?: AbortSignal): Promise<DavDocument> {
  const document = emptyDocument()
  for await (const part of davParts(body, doing, signal)) {
    document.resources.push(...part.resources)
    document.errors.push(...part.errors)
    document.syncToken = part.syncToken ?? document.syncToken
    document.isCut ||= part.isCut
  }
  return document
}

/** Reads a document as `parseDav` does, in parts of some resources: the caller handles one before the next is parsed. */
export async function* davParts(
  body: Uint8Array,
  doing: string,
  signal?: AbortSignal,
): AsyncGenerator<DavDocument, void> {
  let part = emptyDocument()
  let count = 0
  const options = {
    limits: LIMITS,
    qualifyName: (namespace: string, localName: string) => `${PREFIXES.get(namespace) ?? 'x'}:${localName}`,
    onElement: (element: XmlElement, rootName: string) => addElement(part, element, rootName),
    onCut() {
      part.isCut = true
    },
    signal,
  }
  try {
    for await (const _ of xmlChunks(joinSplitCharacters(body), options)) {
      count += part.resources.length + part.errors.length
      if (count > MAX_RESOURCES) throw tooLarge(doing)
      yield part
      part = emptyDocument()
    }
  } catch (error) {
    throw error instanceof XmlLimitError ? tooLarge(doing, error) : error
  }
}

function emptyDocument(): DavDocument {
  return { resources: [], syncToken: undefined, errors: [], isCut: false }
}

/** Finds a descendant by the names of the elements on the way. */
export function child(element: XmlElement | undefined, ...path: string[]): XmlElement | undefined {
  let found = element
  for (const name of path) found = found?.children.find((each) => each.name === name)
  return found
}

/** Adds what a child of the root says. */
function addElement(document: DavDocument, element: XmlElement, rootName: string): void {
  if (rootName === 'D:error') document.errors.push(element.name)
  else if (rootName !== 'D:multistatus') return
  else if (element.name === 'D:sync-token') document.syncToken = element.text.trim()
  else if (element.name === 'D:response') document.resources.push(...parseResources(element))
}

function tooLarge(doing: string, cause?: XmlLimitError): ProviderError {
  return new ProviderError('limit_exceeded', `${doing}: the response of the server is too large`, { cause })
}

/** A response may name several resources that share a status. */
function parseResources(response: XmlElement): DavResource[] {
  const properties = new Map<string, XmlElement>()
  const refused = new Map<string, number>()
  for (const propstat of response.children.filter(({ name }) => name === 'D:propstat')) {
    const status = parseStatus(propstat)
    for (const property of child(propstat, 'D:prop')?.children ?? []) {
      if (status === 200) properties.set(property.name, property)
      else refused.set(property.name, status)
    }
  }
  return response.children
    .filter(({ name }) => name === 'D:href')
    .map(({ text }) => ({ href: text.trim(), status: parseStatus(response), properties, refused }))
}

/** `HTTP/1.1 404 Not Found` */
function parseStatus(element: XmlElement): number {
  const line = child(element, 'D:status')?.text ?? ''
  return Number(/\s(\d{3})(?:\s|$)/.exec(line)?.[1] ?? 200)
}

/** Only these two say that a resource does not exist. */
export function isGone(status: number): boolean {
  return status === 404 || status === 410
}

const [LF, CR, SPACE, TAB] = [0x0a, 0x0d, 0x20, 0x09]
/** CR in XML. */
const REFERENCES = ['&#13;', '&#xD;', '&#xd;'].map((text) => Buffer.from(text))

/**
 * Joins the characters that a program has folded in two: it counted octets, as RFC 5545 asks, but not characters. A decoder would replace both
 * halves. Returns the same bytes where there is none.
 */
export function joinSplitCharacters(body: Uint8Array): Buffer {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const pieces: Buffer[] = []
  let start = 0
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) {
    // Only the second half of a character begins with such a byte.
    const isSplit = ((bytes[at + 2] ?? 0) & 0xc0) === 0x80 && (bytes[at + 1] === SPACE || bytes[at + 1] === TAB)
    if (!isSplit) continue
    const end = beforeLineEnd(bytes, at)
    if ((bytes[end - 1] ?? 0) < 0x80 || end < start) continue
    pieces.push(bytes.subarray(start, end))
    start = at + 2
  }
  return pieces.length === 0 ? bytes : Buffer.concat([...pieces, bytes.subarray(start)])
}

function beforeLineEnd(bytes: Buffer, lineFeed: number): number {
  if (bytes[lineFeed - 1] === CR) return lineFeed - 1
  const reference = REFERENCES.find((text) => bytes.subarray(lineFeed - text.length, lineFeed).equals(text))
  return lineFeed - (reference?.length ?? 0)
}
