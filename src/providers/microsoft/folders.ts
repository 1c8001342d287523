import { truncateText } from '../../lib/text.ts'
import { type FolderRole, ProviderError, type RemoteFolder } from '../contract/index.ts'
import { type Json, PageLinks, text } from '../rest/index.ts'
import { type BatchItem, type BatchResult, bodyOf, type Graph, pageOf, segment } from './client.ts'

/** Graph's well-known folder names, which do not depend on the user's language. v1.0 has them only as aliases of ids. */
const ROLES: Readonly<Record<string, FolderRole>> = {
  ...{ inbox: 'inbox', sentitems: 'sent', drafts: 'drafts' },
  ...{ deleteditems: 'trash', junkemail: 'junk', archive: 'archive' },
}
/** Messages leave the Outbox within seconds and appear as sent. The others contain items that Outlook could not sync. */
const EXCLUDED = ['outbox', 'syncissues', 'conflicts', 'localfailures', 'serverfailures']
const WELL_KNOWN = [...Object.keys(ROLES), ...EXCLUDED].map((name) => ({
  ...{ name, path: `/me/mailFolders/${name}`, query: { $select: 'id' } },
}))

const FIELDS = { $select: 'id,displayName,parentFolderId,childFolderCount,isHidden', $top: 250 }
const TOP = ''
const MAX_FOLDERS = 5000
const MAX_NAME = 1000
const MAX_DEPTH = 100
const DOING = 'listing the folders'

/**
 * Lists every mail folder at any depth. Graph leaves out hidden folders; search folders contain no messages of their own. The
 * children of known parents are requested at once, so a listing is one request as long as no folder becomes a parent.
 */
export class FolderList {
  readonly #graph: Graph
  /** By folder id; null: excluded. */
  #roles: ReadonlyMap<string, FolderRole | null> | undefined
  #knownIds: ReadonlySet<string> = new Set()
  #parents: readonly string[] = []
  /** By parent, as of the last listing. */
  #children: ReadonlyMap<string, Json[]> = new Map()

  constructor(graph: Graph) {
    this.#graph = graph
  }

  async list(signal?: AbortSignal): Promise<RemoteFolder[]> {
    const children = new Map<string, Json[]>()
    const readChildren = async (listings: readonly Listing[], results: Results) => {
      for (const listing of listings) {
        children.set(listing.parent, await this.#items(listing, results.get(listing), signal))
      }
    }
    const listings = [TOP, ...this.#parents].map(listingOf)
    const results = await this.#batch([...listings, ...(this.#roles === undefined ? WELL_KNOWN : [])], signal)
    this.#roles ??= rolesOf(results)
    await readChildren(listings, results)

    const found = new Map<string, Json>()
    const parents: string[] = []
    for (let level = [TOP]; level.length > 0; ) {
      const unread = level.filter((parent) => !children.has(parent)).map(listingOf)
      await readChildren(unread, await this.#batch(unread, signal))
      const nextLevel: string[] = []
      for (const item of level.flatMap((parent) => children.get(parent) ?? [])) {
        const id = text(item.id)
        if (id === undefined || found.has(id) || found.size >= MAX_FOLDERS || this.#isExcluded(item, id)) continue
        found.set(id, item)
        if (item.childFolderCount !== 0) nextLevel.push(id)
      }
      parents.push(...nextLevel)
      level = nextLevel
    }

    // A new folder may be the Archive, which its first use creates.
    const hasNew = this.#knownIds.size > 0 && [...found.keys()].some((id) => !this.#knownIds.has(id))
    if (hasNew) this.#roles = rolesOf(await this.#batch(WELL_KNOWN, signal))
    this.#knownIds = new Set(found.keys())
    this.#parents = parents
    this.#children = children
    return [...found]
      .filter(([id, item]) => !this.#isExcluded(item, id))
      .map(([id, item]) => ({
        ...remoteFolder(item, id, this.#roles?.get(id) ?? null),
        fullName: fullNameOf(id, found),
      }))
  }

  /** Whether the last listing contained the folder. */
  has(id: string): boolean {
    return this.#knownIds.has(id) && this.#roles?.get(id) !== null
  }

  #batch(items: readonly BatchItem[], signal: AbortSignal | undefined): Promise<Results> {
    return this.#graph.batch(items, { doing: DOING, signal })
  }

  #isExcluded(item: Json, id: string): boolean {
    const isSearch = (text(item['@odata.type']) ?? '').endsWith('mailSearchFolder')
    return item.isHidden === true || isSearch || this.#roles?.get(id) === null
  }

  async #items({ parent }: Listing, result: BatchResult | undefined, signal: AbortSignal | undefined): Promise<Json[]> {
    if (parent !== TOP && result instanceof ProviderError) {
      // The parent was deleted meanwhile.
      if (result.kind === 'not_found') return []
      // One folder that fails does not stop the others; those inside it stay as they were.
      const known = isOfFolder(result) ? this.#children.get(parent) : undefined
      if (known !== undefined) return known
    }
    let { items, nextLink } = pageOf(result, DOING)
    const all = [...items]
    const links = new PageLinks(DOING)
    while (nextLink !== undefined && all.length < MAX_FOLDERS) {
      const path = this.#graph.pathOf(links.follow(nextLink, items.length), DOING)
      ;({ items, nextLink } = await this.#graph.page(path, { doing: DOING, signal }))
      all.push(...items)
    }
    return all
  }
}

function isOfFolder({ kind, missingScope }: ProviderError): boolean {
  return kind === 'unavailable' || (kind === 'rejected' && !missingScope)
}

type Results = ReadonlyMap<BatchItem, BatchResult>

interface Listing extends BatchItem {
  parent: string
}

function listingOf(parent: string): Listing {
  const path = parent === TOP ? '/me/mailFolders' : `/me/mailFolders/${segment(parent)}/childFolders`
  return { parent, path, query: FIELDS }
}

function rolesOf(results: Results): Map<string, FolderRole | null> {
  const roles = new Map<string, FolderRole | null>()
  for (const item of WELL_KNOWN) {
    const id = wellKnownId(results.get(item), item.name)
    if (id !== undefined) roles.set(id, ROLES[item.name] ?? null)
  }
  return roles
}

/** A mailbox may lack any of these folders but the inbox. */
function wellKnownId(result: BatchResult | undefined, name: string): string | undefined {
  const isMissing = result instanceof ProviderError && (result.kind === 'not_found' || result.kind === 'rejected')
  return isMissing && name !== 'inbox' ? undefined : text(bodyOf(result).id)
}

/** The names of the folder and its parents, as far as they were listed. */
function fullNameOf(id: string, found: ReadonlyMap<string, Json>): string {
  const names: string[] = []
  for (let at: string | undefined = id; at !== undefined && names.length < MAX_DEPTH; ) {
    const item = found.get(at)
    if (item === undefined) break
    names.unshift(nameOf(item, at))
    at = text(item.parentFolderId)
  }
  return truncateText(names.join('/'), MAX_NAME)
}

function nameOf(item: Json, id: string): string {
  return truncateText((text(item.displayName) ?? '').toWellFormed(), MAX_NAME) || id
}

export function remoteFolder(item: Json, id: string, role: FolderRole | null): RemoteFolder {
  return { path: id, name: nameOf(item, id), delimiter: null, role, selectable: true, mailboxId: null }
}
