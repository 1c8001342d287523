import { sha256 } from '../../../platform/crypto/sha256.ts'
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
export interface ChangePage {
  changed: string[]
  removed: string[]
  next: string
}

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

/** The sync token of a collection; without one, its ctag; without that, a hash of all ETags. */
export async function readState(collection: DavCollection, doing: string): Promise<DavState> {
  const properties = await readProperties(collection, doing, ['D:sync-token', 'D:supported-report-set'])
  const token = properties?.get('D:sync-token')?.text.trim() ?? ''
  const reports = properties?.get('D:supported-report-set')?.children ?? []
  const canSync =
    // Xandikos leaves out the element `report` in between.
    reports.length === 0 ||
    reports.some((each) => child(each, 'D:report', 'D:sync-collection') ?? child(each, 'D:sync-collection'))
  if (token !== '' && canSync) return stateWith(token, doing)
  // Not with the token: servers without a database read all objects for each of the two.
  const ctag = (await readProperties(collection, doing, ['CS:getctag']))?.get('CS:getctag')?.text.trim() ?? ''
  if (ctag !== '') return { kind: 'state', value: hashText(ctag) }
  const etags = [...(await listEtags(collection, doing))].sort(([left], [right]) => (left < right ? -1 : 1))
  return { kind: 'state', value: hashText(JSON.stringify(etags)) }
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

function hashText(text: string): string {
  return sha256(text, 'hex')
}
