import { truncateText } from '../../platform/formats/text.ts'
import { type FolderRole, type KnownFolders, ProviderError, type RemoteFolder } from '../contract/index.ts'
import { type Json, PageLinks, resultOfEach, text } from '../shared/rest/index.ts'
import { type BatchItem, type BatchResult, type Graph, requireBody, requirePage, segment } from './client.ts'
import { lostMailbox, otherMailbox } from './errors.ts'

/** Graph's well-known folder names, which do not depend on the user's language. v1.0 has them only as aliases of ids. */
const ROLES: Readonly<Record<string, FolderRole>> = {
  inbox: 'inbox',
  sentitems: 'sent',
  drafts: 'drafts',
  deleteditems: 'trash',
  junkemail: 'junk',
  archive: 'archive',
}
/** Messages leave the Outbox within seconds and appear as sent. The others contain items that Outlook could not sync. */
const EXCLUDED = ['outbox', 'syncissues', 'conflicts', 'localfailures', 'serverfailures']
const WELL_KNOWN = [...Object.keys(ROLES), ...EXCLUDED].map((name) => ({
  name,
  path: `/me/mailFolders/${name}`,
  query: { $select: 'id' },
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

  /**
   * `known` returns the stored folders. Those inside a folder whose children Graph does not list stay as they are, because one folder that
   * fails does not stop the others.
   */
  async list(signal?: AbortSignal, listKnown: KnownFolders = async () => []): Promise<RemoteFolder[]> {
    const children = new Map<string, Json[]>()
    const unlisted: string[] = []
    const readChildren = async (listings: readonly Listing[], results: Results) => {
      for (const listing of listings) {
        const { parent } = listing
        const items = await this.#items(listing, results.get(listing), signal)
        if (items === undefined && !this.#children.has(parent)) unlisted.push(parent)
        children.set(parent, items ?? this.#children.get(parent) ?? [])
      }
    }
    const listings = [TOP, ...this.#parents].map(buildListing)
    const results = await this.#batch([...listings, ...(this.#roles === undefined ? WELL_KNOWN : [])], signal)
    this.#roles ??= this.#checkedRoles(results)
    await readChildren(listings, results)

    const found = new Map<string, Json>()
    const parents: string[] = []
    for (let level = [TOP]; level.length > 0; ) {
      const unread = level.filter((parent) => !children.has(parent)).map(buildListing)
      await readChildren(unread, await resultOfEach<BatchItem, Json>(unread, (some) => this.#batch(some, signal)))
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
    if (hasNew) this.#roles = this.#checkedRoles(await this.#batch(WELL_KNOWN, signal))
    const kept = (unlisted.length === 0 ? [] : foldersBelow(unlisted, await listKnown())).filter(
      ({ path }) => !found.has(path),
    )
    this.#knownIds = new Set([...found.keys(), ...kept.map(({ path }) => path)])
    this.#parents = parents
    // Folders that could not be listed are requested again.
    for (const parent of unlisted) children.delete(parent)
    this.#children = children
    const listed = [...found]
      .filter(([id, item]) => !this.#isExcluded(item, id))
      .map(([id, item]) => ({
        ...remoteFolder(item, id, this.#roles?.get(id) ?? null),
        fullName: buildFullName(id, found),
      }))
    return [...listed, ...kept]
  }

  /** Whether the last listing contained the folder. */
  has(id: string): boolean {
    return this.#knownIds.has(id) && this.#roles?.get(id) !== null
  }

  #checkedRoles(results: Results): Map<string, FolderRole | null> {
    const { expectedInbox, isApplication } = this.#graph
    const roles = readRoles(results, isApplication)
    if (expectedInbox !== undefined && roles.get(expectedInbox) !== 'inbox') throw otherMailbox(DOING)
    return roles
  }

  #batch(items: readonly BatchItem[], signal: AbortSignal | undefined): Promise<Results> {
    return this.#graph.batch(items, { doing: DOING, signal, isolates: true })
  }

  #isExcluded(item: Json, id: string): boolean {
    const isSearch = (text(item['@odata.type']) ?? '').endsWith('mailSearchFolder')
    return item.isHidden === true || isSearch || this.#roles?.get(id) === null
  }

  /** The children of a folder. Undefined when Graph does not list them. */
  async #items(
    listing: Listing,
    result: BatchResult | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Json[] | undefined> {
    try {
      return await this.#allItems(result, signal)
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      // Exchange hides mailboxes that the user may not open. One's own always has its root.
      if (listing.parent === TOP && error.kind === 'not_found') throw lostMailbox(DOING, this.#graph.isApplication)
      if (listing.parent === TOP) throw error
      // The parent was deleted meanwhile.
      if (error.kind === 'not_found') return []
      if (isOfFolder(error)) return undefined
      throw error
    }
  }

  async #allItems(result: BatchResult | undefined, signal: AbortSignal | undefined): Promise<Json[]> {
    let { items, nextLink } = requirePage(result, DOING)
    const all = [...items]
    const links = new PageLinks(DOING)
    while (nextLink !== undefined && all.length < MAX_FOLDERS) {
      const path = this.#graph.resolvePath(links.follow(nextLink, items.length), DOING)
      ;({ items, nextLink } = await this.#graph.page(path, { doing: DOING, signal }))
      all.push(...items)
    }
    return all
  }
}

/** The known folders inside of others, at any depth. */
function foldersBelow(parents: readonly string[], folders: readonly RemoteFolder[]): RemoteFolder[] {
  const displayName = ({ fullName, name }: RemoteFolder) => fullName ?? name
  const isParent = new Set(parents)
  const names = new Set(folders.filter(({ path }) => isParent.has(path)).map(displayName))
  return folders.filter((folder) => {
    const name = displayName(folder)
    for (let end = name.indexOf('/'); end !== -1; end = name.indexOf('/', end + 1)) {
      if (names.has(name.slice(0, end))) return true
    }
    return false
  })
}

function isOfFolder({ kind, missingScope }: ProviderError): boolean {
  return kind === 'unavailable' || (kind === 'rejected' && !missingScope)
}

type Results = Map<BatchItem, BatchResult>

interface Listing extends BatchItem {
  parent: string
}

function buildListing(parent: string): Listing {
  const path = parent === TOP ? '/me/mailFolders' : `/me/mailFolders/${segment(parent)}/childFolders`
  return { parent, path, query: FIELDS }
}

function readRoles(results: Results, isApplication: boolean): Map<string, FolderRole | null> {
  const roles = new Map<string, FolderRole | null>()
  for (const item of WELL_KNOWN) {
    const result = results.get(item)
    // A mailbox may lack any of these folders but the inbox.
    if (item.name === 'inbox' && isNotFound(result)) throw lostMailbox(DOING, isApplication)
    const id = wellKnownId(result, item.name)
    if (id !== undefined) roles.set(id, ROLES[item.name] ?? null)
  }
  return roles
}

function isNotFound(result: BatchResult | undefined): boolean {
  return result instanceof ProviderError && result.kind === 'not_found'
}

function wellKnownId(result: BatchResult | undefined, name: string): string | undefined {
  const isMissing = result instanceof ProviderError && (result.kind === 'not_found' || result.kind === 'rejected')
  return isMissing && name !== 'inbox' ? undefined : text(requireBody(result).id)
}

/** The names of the folder and its parents, as far as they were listed. */
function buildFullName(id: string, found: ReadonlyMap<string, Json>): string {
  const names: string[] = []
  for (let at: string | undefined = id; at !== undefined && names.length < MAX_DEPTH; ) {
    const item = found.get(at)
    if (item === undefined) break
    names.unshift(readName(item, at))
    at = text(item.parentFolderId)
  }
  return truncateText(names.join('/'), MAX_NAME)
}

function readName(item: Json, id: string): string {
  return truncateText((text(item.displayName) ?? '').toWellFormed(), MAX_NAME) || id
}

export function remoteFolder(item: Json, id: string, role: FolderRole | null): RemoteFolder {
  return { path: id, name: readName(item, id), delimiter: null, role, selectable: true, mailboxId: null }
}
