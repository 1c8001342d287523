import { truncateText } from '../../lib/text.ts'
import { type FolderRole, ProviderError, type RemoteFolder } from '../contract/index.ts'
import { answered, answeredPage, type BatchItem, type Graph, segment } from './graph.ts'
import { type Json, text } from './json.ts'

/** Folders by the names Graph knows them by, whatever language their owner sees: v1.0 tells only their ids by them. */
const ROLES: Readonly<Record<string, FolderRole>> = {
  ...{ inbox: 'inbox', sentitems: 'sent', drafts: 'drafts' },
  ...{ deleteditems: 'trash', junkemail: 'junk', archive: 'archive' },
}
/** Mails pass through the Outbox within seconds and come as sent ones; the others hold what Outlook could not synchronise. */
const LEFT_OUT = ['outbox', 'syncissues', 'conflicts', 'localfailures', 'serverfailures']
const NAMED = [...Object.keys(ROLES), ...LEFT_OUT].map((name) => ({
  ...{ name, path: `/me/mailFolders/${name}`, query: { $select: 'id' } },
}))

const FIELDS = { $select: 'id,displayName,parentFolderId,childFolderCount,isHidden', $top: 250 }
const TOP = ''
const LIMIT = 5000
const NAME_LIMIT = 1000
const DOING = 'listing the folders'

/**
 * Every folder of mail at any depth. Hidden ones Graph leaves out by itself; search folders hold no mail of their own. What the last
 * listing showed is asked for at once in the next: as long as no folder has become a parent, that is one request.
 */
export class FolderList {
  readonly #graph: Graph
  /** Null: left out. */
  #roles: ReadonlyMap<string, FolderRole | null> | undefined
  #seen: ReadonlySet<string> = new Set()
  #parents: readonly string[] = []

  constructor(graph: Graph) {
    this.#graph = graph
  }

  async list(signal?: AbortSignal): Promise<RemoteFolder[]> {
    const listings = [TOP, ...this.#parents].map(listingOf)
    const outcome = await this.#batch([...listings, ...(this.#roles === undefined ? NAMED : [])], signal)
    this.#roles ??= rolesOf(outcome)
    const inside = new Map<string, Json[]>()
    const read = async (of: readonly Listing[], answers: Outcome) => {
      for (const listing of of) inside.set(listing.parent, await this.#items(listing, answers.get(listing), signal))
    }
    await read(listings, outcome)

    const found = new Map<string, Json>()
    const parents: string[] = []
    for (let level = [TOP]; level.length > 0; ) {
      const unread = level.filter((parent) => !inside.has(parent)).map(listingOf)
      await read(unread, await this.#batch(unread, signal))
      const next: string[] = []
      for (const item of level.flatMap((parent) => inside.get(parent) ?? [])) {
        const id = text(item.id)
        if (id === undefined || found.has(id) || found.size >= LIMIT || !this.#isKept(item, id)) continue
        found.set(id, item)
        if (item.childFolderCount !== 0) next.push(id)
      }
      parents.push(...next)
      level = next
    }
    return this.#remember(found, parents, signal)
  }

  async #remember(
    found: ReadonlyMap<string, Json>,
    parents: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<RemoteFolder[]> {
    // One that was not there may be the Archive, made by its first use.
    const isOthers = this.#seen.size > 0 && [...found.keys()].some((id) => !this.#seen.has(id))
    if (isOthers) this.#roles = rolesOf(await this.#batch(NAMED, signal))
    this.#seen = new Set(found.keys())
    this.#parents = parents
    return [...found]
      .filter(([id, item]) => this.#isKept(item, id))
      .map(([id, item]) => remoteFolder(item, id, this.#roles?.get(id) ?? null))
  }

  #batch(items: readonly BatchItem[], signal: AbortSignal | undefined): Promise<Outcome> {
    return this.#graph.batch(items, { doing: DOING, signal })
  }

  #isKept(item: Json, id: string): boolean {
    const isSearch = (text(item['@odata.type']) ?? '').endsWith('mailSearchFolder')
    return item.isHidden !== true && !isSearch && this.#roles?.get(id) !== null
  }

  async #items({ parent }: Listing, answer: Answer, signal: AbortSignal | undefined): Promise<Json[]> {
    // A parent that has gone has no children.
    if (parent !== TOP && answer instanceof ProviderError && answer.kind === 'not_found') return []
    let { items, nextLink } = answeredPage(answer, DOING)
    const all = [...items]
    while (nextLink !== undefined && all.length < LIMIT) {
      ;({ items, nextLink } = await this.#graph.page(this.#graph.pathOf(nextLink, DOING), { doing: DOING, signal }))
      all.push(...items)
    }
    return all
  }
}

type Answer = Json | ProviderError | undefined
type Outcome = ReadonlyMap<BatchItem, Json | ProviderError>

interface Listing extends BatchItem {
  parent: string
}

function listingOf(parent: string): Listing {
  const path = parent === TOP ? '/me/mailFolders' : `/me/mailFolders/${segment(parent)}/childFolders`
  return { parent, path, query: FIELDS }
}

function rolesOf(outcome: Outcome): Map<string, FolderRole | null> {
  const roles = new Map<string, FolderRole | null>()
  for (const item of NAMED) {
    const id = idOf(outcome.get(item), item.name)
    if (id !== undefined) roles.set(id, ROLES[item.name] ?? null)
  }
  return roles
}

/** A mailbox may lack any of them but the inbox. */
function idOf(answer: Answer, name: string): string | undefined {
  const isMissing = answer instanceof ProviderError && (answer.kind === 'not_found' || answer.kind === 'rejected')
  return isMissing && name !== 'inbox' ? undefined : text(answered(answer).id)
}

function remoteFolder(item: Json, id: string, role: FolderRole | null): RemoteFolder {
  const name = truncateText((text(item.displayName) ?? '').toWellFormed(), NAME_LIMIT) || id
  return { path: id, name, delimiter: null, role, selectable: true, mailboxId: null }
}
