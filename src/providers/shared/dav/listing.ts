import { eachInTurns } from '../../../platform/concurrency/event-loop.ts'
import type { DavClient } from './client.ts'
import { isOwnPath, pathReader } from './hrefs.ts'
import { propfindBody } from './requests.ts'

/** A collection of which objects are read. */
export interface DavCollection {
  client: DavClient
  url: URL
  signal: AbortSignal
}

export const MAX_OBJECTS = 50_000
/** About 250 bytes for each object. */
export const MAX_LISTING_BYTES = 16 * 1024 * 1024

/** Paths and ETags of everything in the collection. */
export async function listEtags({ client, url, signal }: DavCollection, doing: string): Promise<Map<string, string>> {
  const body = propfindBody(['D:getetag'])
  const request = { method: 'PROPFIND', url, depth: '1', body, signal, maxBytes: MAX_LISTING_BYTES } as const
  const { resources, url: base } = await client.read({ ...request, doing })
  const etags = new Map<string, string>()
  const readPath = pathReader(base)
  await eachInTurns(resources, ({ href, properties }) => {
    const path = readPath(href)
    if (path === undefined || !isOwnPath(path, url)) return
    etags.set(path, properties.get('D:getetag')?.text.trim() ?? '')
  })
  return etags
}

/** The paths of what is directly in the collection, at most 50,000. */
export async function ownPaths(hrefs: readonly string[], collection: URL, base: URL): Promise<string[]> {
  const own = new Set<string>()
  const readPath = pathReader(base)
  await eachInTurns(hrefs, (href) => {
    const path = own.size < MAX_OBJECTS ? readPath(href) : undefined
    if (path !== undefined && isOwnPath(path, collection)) own.add(path)
  })
  return [...own]
}
