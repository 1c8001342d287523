import { replaceFailure } from '../../../platform/errors/programming-errors.ts'
import type { XmlElement } from '../../../platform/formats/xml.ts'
import type { Log } from '../../../platform/log/index.ts'
import type { DnsRecords } from '../../../platform/net/index.ts'
import { type MailAccess, ProviderError } from '../../contract/index.ts'
import type { DavClient, DavResponse } from './client.ts'
import { resolveUrl } from './hrefs.ts'
import { child, type DavDocument } from './multistatus.ts'
import { propfindBody } from './requests.ts'

/** Where the calendars of an account are. */
export interface CalendarHome {
  homes: URL[]
  /** Path of the user's principal, which owns the calendars of the user. */
  principal: string | undefined
  /** Addresses of the user as attendee, in lower case. */
  addresses: string[]
  /** The scheduling inbox, which names the default calendar. */
  inbox: URL | undefined
}

const WELL_KNOWN = '/.well-known/caldav'
const MAX_HOMES = 3
const PRINCIPAL_PROPERTIES = [
  'D:current-user-principal',
  'D:principal-URL',
  'D:resourcetype',
  'C:calendar-home-set',
  'C:calendar-user-address-set',
  'C:schedule-inbox-URL',
]

/**
 * Candidates for a server, best first: the SRV record of the address's domain with the path of its TXT record, then
 * `/.well-known/caldav` at the domain and at the IMAP server (RFC 6764). Hosts that may not receive the password are left out.
 */
export async function candidates(
  access: MailAccess,
  { records, log, trusts }: { records: DnsRecords; log: Log; trusts(host: string): boolean },
): Promise<URL[]> {
  const domain = domainOf(access.email)
  const service = `_caldavs._tcp.${domain}`
  const [servers, texts] = await Promise.all([
    records.srv(service).catch(replaceFailure([])),
    records.txt(service).catch(replaceFailure([])),
  ])
  const path = texts.map((text) => /^path=(\/.*)$/i.exec(text.trim())?.[1]).find((found) => found !== undefined)
  const urls = servers.map(({ host, port }) => `https://${host}:${port}${path ?? WELL_KNOWN}`)
  urls.push(`https://${domain}${WELL_KNOWN}`)
  if (access.settings.imap !== undefined) urls.push(`https://${access.settings.imap.host}${WELL_KNOWN}`)
  const valid = [...new Set(urls)].flatMap((url) => resolveUrl(url, undefined) ?? [])
  const trusted: URL[] = []
  for (const url of valid) {
    if (trusts(url.hostname)) {
      trusted.push(url)
      continue
    }
    const metadata = { host: url.hostname }
    log.info('The CalDAV server that the domain names may not receive the password. The user can enter its URL.', {
      accountId: access.accountId,
      metadata,
    })
  }
  return trusted
}

export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1).toLowerCase()
}

/**
 * Asks without the password where a candidate leads and whether it is a CalDAV server. Undefined when it is not; rejects when it
 * cannot be reached.
 */
export async function probe(client: DavClient, url: URL, signal: AbortSignal): Promise<URL | undefined> {
  const doing = 'looking for the CalDAV server'
  const body = propfindBody(['D:current-user-principal'])
  const response = await client.send({ method: 'PROPFIND', url, depth: '0', body, doing, signal, isAnonymous: true })
  return response.status === 207 || (response.status === 401 && offersBasic(response)) ? response.url : undefined
}

function offersBasic({ headers }: DavResponse): boolean {
  return [headers['www-authenticate']].flat().some((challenge) => challenge?.toLowerCase().includes('basic'))
}

/** Finds the calendars from any address of the server: its root, the user's principal, the home, or one calendar. */
export async function findHome(client: DavClient, start: URL, signal: AbortSignal): Promise<CalendarHome> {
  const doing = 'looking for the calendars'
  const read = (url: URL) =>
    client.read({ method: 'PROPFIND', url, depth: '0', body: propfindBody(PRINCIPAL_PROPERTIES), doing, signal })
  const first = await readOrWellKnown(read, start)
  const atStart = toHome(first)
  const principal = readHrefs(first, 'D:current-user-principal')[0]
  if (atStart.homes.length > 0 || principal === undefined) {
    return atStart.homes.length > 0 ? atStart : calendarItself(first)
  }
  const found = toHome(await read(principal))
  return {
    ...found,
    principal: principal.pathname,
    homes: found.homes.length > 0 ? found.homes : calendarItself(first).homes,
  }
}

/** A server that only has a web page at its root knows `/.well-known/caldav`. */
async function readOrWellKnown(read: (url: URL) => Promise<DavDocument & { url: URL }>, start: URL) {
  try {
    return await read(start)
  } catch (error) {
    const isElsewhere = error instanceof ProviderError && ['not_found', 'rejected', 'unavailable'].includes(error.kind)
    if (!isElsewhere || error.passwordRefused || start.pathname !== '/' || error.cause !== undefined) throw error
    return read(new URL(WELL_KNOWN, start))
  }
}

function toHome(document: DavDocument & { url: URL }): CalendarHome {
  return {
    homes: readHrefs(document, 'C:calendar-home-set').slice(0, MAX_HOMES),
    principal: (readHrefs(document, 'D:current-user-principal')[0] ?? readHrefs(document, 'D:principal-URL')[0])
      ?.pathname,
    addresses: findElements(document, 'C:calendar-user-address-set')
      .map(({ text }) => text.trim().toLowerCase())
      .flatMap((text) => (text.startsWith('mailto:') ? text.slice('mailto:'.length) : [])),
    inbox: readHrefs(document, 'C:schedule-inbox-URL')[0],
  }
}

/** The user entered the address of one calendar. */
function calendarItself(document: DavDocument & { url: URL }): CalendarHome {
  const isCalendar = child(document.resources[0]?.properties.get('D:resourcetype'), 'C:calendar') !== undefined
  return { ...toHome(document), homes: isCalendar ? [document.url] : [] }
}

function findElements({ resources }: DavDocument, property: string): XmlElement[] {
  return resources[0]?.properties.get(property)?.children.filter(({ name }) => name === 'D:href') ?? []
}

export function readHrefs(document: DavDocument & { url: URL }, property: string): URL[] {
  return findElements(document, property).flatMap(({ text }) => resolveUrl(text.trim(), document.url) ?? [])
}
