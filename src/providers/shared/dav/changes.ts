import { sha256 } from '../../../platform/crypto/sha256.ts'
import type { XmlElement } from '../../../platform/formats/xml.ts'
import { ProviderError } from '../../contract/index.ts'
import { type DavCollection, listEtags, MAX_LISTING_BYTES, ownPaths } from './listing.ts'
import { child, isGone } from './multistatus.ts'
import { propfindBody, syncCollectionBody } from './requests.ts'

/**
 * What a collection was like. `sync`: a sync token (RFC 6578). `state`: a value that changes with any change, of servers without tokens.
 */
export interface DavState {
  kind: 'sync' | 'state'
  value: string
}

/** Paths of the objects that changed, and of those that are gone. `next` is the token after them. */
interface ChangePage {
  changed: string[]
  removed: string[]
  next: string
}

/** All objects of a collection, and what it was like when they were listed. */
interface DavListing {
  paths: string[]
  state: DavState
}

/** The report of a server with sync tokens. */
const SYNC = 'D:sync-collection'
const MAX_CURSOR = 3500
/** Pages of one sync token. A server that says each time that there is another would never end. */
const MAX_PAGES = 100

/** The changes since a sync token. Throws `cursor_expired` for one that the server does not know. */
export async function* changePages(
  collection: DavCollection,
  token: string,
  doing: string,
): AsyncGenerator<ChangePage, void> {
  const { client, url, signal } = collection
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const body = syncCollectionBody(token)
    const request = { method: 'REPORT', url, depth: '0', body, doing, signal, maxBytes: MAX_LISTING_BYTES } as const
    const listing = await client
      .read(request, ({ status }, { errors }) =>
        errors.includes('D:valid-sync-token') || status === 410 || status === 412 ? expired(doing) : undefined,
      )
      .catch(async (error: unknown) => {
        throw (await isTokenRefused(collection, token, error, doing)) ? expired(doing) : error
      })
    const { resources, syncToken, url: base } = listing
    const changed = resources.filter(({ status }) => !isGone(status)).map(({ href }) => href)
    const deleted = resources.filter(({ status }) => isGone(status)).map(({ href }) => href)
    // The status 507 of the collection itself says that there are more changes.
    const hasMore = resources.some(({ status }) => status === 507)
    const { value: next } = stateWith(syncToken ?? token, doing)
    yield { changed: await ownPaths(changed, url, base), removed: await ownPaths(deleted, url, base), next }
    if (!hasMore || next === token) return
    token = next
  }
}

/**
 * Whether a server that fails without saying why does not know the sync token: it lists the changes since the token that it has now.
 * Xandikos answers 500 to a token that its repository no longer has.
 */
async function isTokenRefused(
  collection: DavCollection,
  token: string,
  error: unknown,
  doing: string,
): Promise<boolean> {
  if (!(error instanceof ProviderError) || (error.kind !== 'unavailable' && error.kind !== 'rejected')) return false
  if (error.timedOut || error.passwordRefused) return false
  const { client, url, signal } = collection
  try {
    const state = await readState(collection, doing)
    if (state.kind !== 'sync' || state.value === token) return false
    const body = syncCollectionBody(state.value)
    await client.read({ method: 'REPORT', url, depth: '0', body, doing, signal })
    return true
  } catch (again) {
    if (!(again instanceof ProviderError)) throw again
    return false
  }
}

/**
 * Lists a collection together with its sync token (RFC 6578, 3.8): Radicale takes ten times as long for the same list by PROPFIND.
 * Undefined where the server fails or lists nothing, so that another way of listing decides.
 */
async function listWithToken(collection: DavCollection, doing: string): Promise<DavListing | undefined> {
  const { client, url, signal } = collection
  const paths = new Set<string>()
  let token = ''
  try {
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const body = syncCollectionBody(token)
      const request = { method: 'REPORT', url, depth: '0', body, doing, signal, maxBytes: MAX_LISTING_BYTES } as const
      const { resources, syncToken = '', url: base } = await client.read(request)
      const hrefs = resources.filter(({ status }) => !isGone(status)).map(({ href }) => href)
      for (const path of await ownPaths(hrefs, url, base)) paths.add(path)
      if (syncToken === '' || syncToken === token || paths.size === 0) return undefined
      token = syncToken
      if (!resources.some(({ status }) => status === 507)) return { paths: [...paths], state: stateWith(token, doing) }
    }
  } catch (error) {
    if (!mayListOtherwise(error)) throw error
  }
  return undefined
}

/** All objects of a collection. What changes while they are read is reported again after `state`. */
export async function listAll(collection: DavCollection, doing: string): Promise<DavListing> {
  const reports = readReports(await readProperties(collection, doing, ['D:supported-report-set']))
  if (reports.length > 0 && !reports.includes(SYNC)) return listWithCtag(collection, doing)
  const listed = reports.includes(SYNC) ? await listWithToken(collection, doing) : undefined
  if (listed !== undefined) return listed
  const state = await readState(collection, doing)
  return { paths: [...(await listEtags(collection, doing)).keys()], state }
}

/** At a server without sync tokens. */
async function listWithCtag(collection: DavCollection, doing: string): Promise<DavListing> {
  const state = await readCtag(collection, doing)
  const etags = await listEtags(collection, doing)
  return { paths: [...etags.keys()], state: state ?? hashEtags(etags) }
}

/** Not after a refused password, or when the server says when to come back. */
function mayListOtherwise(error: unknown): boolean {
  if (!(error instanceof ProviderError) || error.passwordRefused || error.retryAfterMs !== undefined) return false
  return ['unavailable', 'rejected', 'limit_exceeded'].includes(error.kind)
}

/** The sync token of a collection; without one, its ctag; without that, a hash of all ETags. */
export async function readState(collection: DavCollection, doing: string): Promise<DavState> {
  const properties = await readProperties(collection, doing, ['D:sync-token', 'D:supported-report-set'])
  const token = properties?.get('D:sync-token')?.text.trim() ?? ''
  const reports = readReports(properties)
  const canSync = reports.length === 0 || reports.includes(SYNC)
  if (token !== '' && canSync) return stateWith(token, doing)
  return (await readCtag(collection, doing)) ?? hashEtags(await listEtags(collection, doing))
}

/** Not with the token: servers without a database read all objects for each of the two. */
async function readCtag(collection: DavCollection, doing: string): Promise<DavState | undefined> {
  const ctag = (await readProperties(collection, doing, ['CS:getctag']))?.get('CS:getctag')?.text.trim() ?? ''
  return ctag === '' ? undefined : { kind: 'state', value: sha256(ctag, 'hex') }
}

function hashEtags(etags: ReadonlyMap<string, string>): DavState {
  const sorted = [...etags].sort(([left], [right]) => (left < right ? -1 : 1))
  return { kind: 'state', value: sha256(JSON.stringify(sorted), 'hex') }
}

/** The reports that a collection names. Xandikos leaves out the element `report` in between. */
function readReports(properties: ReadonlyMap<string, XmlElement> | undefined): (string | undefined)[] {
  const supported = properties?.get('D:supported-report-set')?.children ?? []
  return supported.map((element) => (child(element, 'D:report') ?? element).children[0]?.name)
}

async function readProperties({ client, url, signal }: DavCollection, doing: string, names: readonly string[]) {
  const body = propfindBody(names)
  const found = await client.read({ method: 'PROPFIND', url, depth: '0', body, doing, signal })
  const [collection] = found.resources
  if (collection !== undefined && isGone(collection.status)) {
    throw new ProviderError('not_found', `${doing}: not found`)
  }
  return collection?.properties
}

function stateWith(token: string, doing: string): DavState {
  if (token.length > MAX_CURSOR) throw new ProviderError('limit_exceeded', `${doing}: the sync token is too long`)
  return { kind: 'sync', value: token }
}

function expired(doing: string): ProviderError {
  return new ProviderError('cursor_expired', `${doing}: everything must be read again`)
}
