import { readXml, type XmlElement, XmlLimitError, type XmlLimits } from '../../lib/xml.ts'
import { ProviderError } from '../contract/index.ts'
import { joinSplitCharacters } from './split-characters.ts'

/** One resource of a multistatus. */
export interface DavResource {
  href: string
  /** Of the resource itself; 200 where the status is given per property. */
  status: number
  /** The properties that were found, by name. */
  properties: Map<string, XmlElement>
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
  const document: DavDocument = { resources: [], syncToken: undefined, errors: [] }
  try {
    await readXml(joinSplitCharacters(body), {
      limits: LIMITS,
      nameOf: (namespace, localName) => `${PREFIXES.get(namespace) ?? 'x'}:${localName}`,
      onElement: (element, rootName) => addElement(document, element, rootName, doing),
      signal,
    })
  } catch (error) {
    throw error instanceof XmlLimitError ? tooLarge(doing, error) : error
  }
  return document
}

/** Finds a descendant by the names of the elements on the way. */
export function child(element: XmlElement | undefined, ...path: string[]): XmlElement | undefined {
  let found = element
  for (const name of path) found = found?.children.find((each) => each.name === name)
  return found
}

/** Adds what a child of the root says. */
function addElement(document: DavDocument, element: XmlElement, rootName: string, doing: string): void {
  if (rootName === 'D:error') document.errors.push(element.name)
  else if (rootName !== 'D:multistatus') return
  else if (element.name === 'D:sync-token') document.syncToken = element.text.trim()
  else if (element.name === 'D:response') document.resources.push(...resourcesOf(element))
  if (Math.max(document.resources.length, document.errors.length) > MAX_RESOURCES) throw tooLarge(doing)
}

function tooLarge(doing: string, cause?: XmlLimitError): ProviderError {
  return new ProviderError('limit_exceeded', `${doing}: the response of the CalDAV server is too large`, { cause })
}

/** A response may name several resources that share a status. */
function resourcesOf(response: XmlElement): DavResource[] {
  const properties = new Map<string, XmlElement>()
  for (const propstat of response.children.filter(({ name }) => name === 'D:propstat')) {
    if (statusOf(propstat) !== 200) continue
    for (const property of child(propstat, 'D:prop')?.children ?? []) properties.set(property.name, property)
  }
  return response.children
    .filter(({ name }) => name === 'D:href')
    .map(({ text }) => ({ href: text.trim(), status: statusOf(response), properties }))
}

/** `HTTP/1.1 404 Not Found` */
function statusOf(element: XmlElement): number {
  const line = child(element, 'D:status')?.text ?? ''
  return Number(/\s(\d{3})(?:\s|$)/.exec(line)?.[1] ?? 200)
}
