/**
 * WebDAV for calendars and contacts: discovery (RFC 6764), listings, sync tokens (RFC 6578), and a client that sends the password to
 * trusted hosts only. Every request passes the address guard, every response is bounded.
 */
export { type DavAccount, type DavDeps, davAccounts } from './accounts.ts'
export { Batches } from './batches.ts'
export { changePages, type DavState, listAll, readState } from './changes.ts'
export type { DavClient } from './client.ts'
export { type DavHome, type DavService, findHome, hrefElements, readHrefs } from './discovery.ts'
export { statusError } from './errors.ts'
export { isOwnPath, pathReader, resolvePath, resolveUrl } from './hrefs.ts'
export { type DavCollection, MAX_LISTING_BYTES, MAX_OBJECTS, ownPaths } from './listing.ts'
export { child, type DavResource, davParts, isGone } from './multistatus.ts'
export { buildProp, multigetBody, NAMESPACES, propfindBody, xmlDocument } from './requests.ts'
