import { replaceFailure } from '../../../platform/errors/programming-errors.ts'
import type { XmlElement } from '../../../platform/formats/xml.ts'
import type { Log } from '../../../platform/log/index.ts'
import type { DnsRecords } from '../../../platform/net/index.ts'
import { type MailAccess, ProviderError } from '../../contract/index.ts'
import type { DavClient, DavResponse } from './client.ts'
import type { DavProtocol } from './errors.ts'
import { resolveUrl } from './hrefs.ts'
import { child, type DavDocument } from './multistatus.ts'
import { propfindBody } from './requests.ts'

/** What is looked for at a server: calendars or address books. */
export interface DavService {
  protocol: DavProtocol
  /** For sentences: `calendars`. */
  things: string
  /** `_caldavs._tcp` */
  srv: string
  /** `/.well-known/caldav` */
  wellKnown: string
  /** The property of a principal that names the homes. */
  homeSet: string
  /** The resource type of a collection. */
  collection: string
  /** Further properties of the principal. */
  properties: readonly string[]
  /** Names of hosts beside `caldav.example.com`, where the principal of the user's URL has no home. */
  siblings: readonly string[]
}

/** Where the collections of an account are. */
export interface DavHome {
  homes: URL[]
  /** Path of the user's principal, which owns the collections of the user. */
  principal: string | undefined
  /** The principal, or what the user entered, with the `properties`. */
  document: DavDocument & { url: URL }
}

const MAX_HOMES = 3

/**
 * Candidates for a server, best first: the SRV record of the address's domain with the path of its TXT record, then the well-known path
 * at the domain and at the IMAP server (RFC 6764). Hosts that may not receive the password are left out.
 */
export async function candidates(
  access: MailAccess,
  service: DavService,
  { records, log, trusts }: { records: DnsRecords; log: Log; trusts(host: string): boolean },
): Promise<URL[]> {
  const domain = domainOf(access.email)
  const name = `${service.srv}.${domain}`
  const [servers, texts] = await Promise.all([
    records.srv(name).catch(replaceFailure([])),
    records.txt(name).catch(replaceFailure([])),
  ])
  const path = texts.map((text) => /^path=(\/.*)$/i.exec(text.trim())?.[1]).find((found) => found !== undefined)
  const urls = servers.map(({ host, port }) => `https://${host}:${port}${path ?? service.wellKnown}`)
  urls.push(`https://${domain}${service.wellKnown}`)
  if (access.settings.imap !== undefined) urls.push(`https://${access.settings.imap.host}${service.wellKnown}`)
  const valid = [...new Set(urls)].flatMap((url) => resolveUrl(url, undefined) ?? [])
  const trusted: URL[] = []
  for (const url of valid) {
    if (trusts(url.hostname)) {
      trusted.push(url)
      continue
    }
    const metadata = { host: url.hostname }
    log.info(
      `The ${service.protocol} server that the domain names may not receive the password. The user can enter its URL.`,
      { accountId: access.accountId, metadata },
    )
  }
  return trusted
}

export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1).toLowerCase()
}

/**
 * Asks without the password where a candidate leads and whether it is such a server. Undefined when it is not; rejects when it
 * cannot be reached.
 */
export async function probe(
  client: DavClient,
  url: URL,
  { protocol }: DavService,
  signal: AbortSignal,
): Promise<URL | undefined> {
  const doing = `looking for the ${protocol} server`
  const body = propfindBody(['D:current-user-principal'])
  const response = await client.send({ method: 'PROPFIND', url, depth: '0', body, doing, signal, isAnonymous: true })
  return response.status === 207 || (response.status === 401 && offersBasic(response)) ? response.url : undefined
}

function offersBasic({ headers }: DavResponse): boolean {
  return [headers['www-authenticate']].flat().some((challenge) => challenge?.toLowerCase().includes('basic'))
}

/** Finds the collections from any address of the server: its root, the user's principal, the home, or one collection. */
export async function findHome(
  client: DavClient,
  start: URL,
  service: DavService,
  signal: AbortSignal,
): Promise<DavHome> {
  const doing = `looking for the ${service.things}`
  const names = [
    'D:current-user-principal',
    'D:principal-URL',
    'D:resourcetype',
    service.homeSet,
    ...service.properties,
  ]
  const read = (url: URL) =>
    client.read({ method: 'PROPFIND', url, depth: '0', body: propfindBody(names), doing, signal })
  const first = await readOrWellKnown(read, start, service)
  const atStart = toHome(first, service)
  const principal = readHrefs(first, 'D:current-user-principal')[0]
  if (atStart.homes.length > 0 || principal === undefined) {
    return atStart.homes.length > 0 ? atStart : collectionItself(first, service)
  }
  const found = toHome(await read(principal), service)
  return {
    ...found,
    principal: principal.pathname,
    homes: found.homes.length > 0 ? found.homes : collectionItself(first, service).homes,
  }
}

/** A server that only has a web page at its root knows the well-known path. */
async function readOrWellKnown(
  read: (url: URL) => Promise<DavDocument & { url: URL }>,
  start: URL,
  { wellKnown }: DavService,
) {
  try {
    return await read(start)
  } catch (error) {
    const isElsewhere = error instanceof ProviderError && ['not_found', 'rejected', 'unavailable'].includes(error.kind)
    if (!isElsewhere || error.passwordRefused || start.pathname !== '/' || error.cause !== undefined) throw error
    return read(new URL(wellKnown, start))
  }
}

function toHome(document: DavDocument & { url: URL }, { homeSet }: DavService): DavHome {
  return {
    homes: readHrefs(document, homeSet).slice(0, MAX_HOMES),
    principal: (readHrefs(document, 'D:current-user-principal')[0] ?? readHrefs(document, 'D:principal-URL')[0])
      ?.pathname,
    document,
  }
}

/** The user entered the address of one collection. */
function collectionItself(document: DavDocument & { url: URL }, service: DavService): DavHome {
  const isOne = child(document.resources[0]?.properties.get('D:resourcetype'), service.collection) !== undefined
  return { ...toHome(document, service), homes: isOne ? [document.url] : [] }
}

/** The `href` elements of a property. */
export function hrefElements({ resources }: DavDocument, property: string): XmlElement[] {
  return resources[0]?.properties.get(property)?.children.filter(({ name }) => name === 'D:href') ?? []
}

export function readHrefs(document: DavDocument & { url: URL }, property: string): URL[] {
  return hrefElements(document, property).flatMap(({ text }) => resolveUrl(text.trim(), document.url) ?? [])
}
