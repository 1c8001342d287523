import { truncateText } from '../../lib/text.ts'
import { type FolderRole, ProviderError, type RemoteFolder } from '../provider.ts'
import { answered, answeredPage, type BatchItem, type Graph, segment } from './graph.ts'
import { type Json, text } from './json.ts'

/** Folders by the names Graph knows them by, whatever language their owner sees: v1.0 tells only their ids by them. */
const ROLES: Readonly<Record<string, FolderRole>> = {
  ...{
    inbox: 'inbox',
    sentitems: 'sent',
    drafts: 'drafts',
    deleteditems: 'trash',
    junkemail: 'junk',
    archive: 'archive',
  },
}
/** Mails pass through the Outbox within seconds and come as sent ones; the others hold what Outlook could not synchronise. */
const LEFT_OUT = ['outbox', 'syncissues', 'conflicts', 'localfailures', 'serverfailures']

const FIELDS = { $select: 'id,displayName,parentFolderId,childFolderCount,isHidden', $top: 250 }
const LIMIT = 5000
const NAME_LIMIT = 1000
const DOING = 'listing the folders'

/** Every folder of mail at any depth. Hidden ones Graph leaves out by itself; search folders hold no mail of their own. */
export async function listFolders(graph: Graph, signal?: AbortSignal): Promise<RemoteFolder[]> {
  const top = { path: '/me/mailFolders', query: FIELDS }
  const named = [...Object.keys(ROLES), ...LEFT_OUT].map((name) => ({
    ...{ name, path: `/me/mailFolders/${name}`, query: { $select: 'id' } },
  }))
  const outcome = await graph.batch<BatchItem>([top, ...named], { doing: DOING, signal })
  const roles = new Map<string, FolderRole | null>()
  for (const item of named) {
    const id = idOf(outcome.get(item), item.name)
    if (id !== undefined) roles.set(id, ROLES[item.name] ?? null)
  }

  const folders = new Map<string, RemoteFolder>()
  let level = await allPages(graph, outcome.get(top), signal)
  while (level.length > 0) {
    const parents: string[] = []
    for (const item of level) {
      const id = text(item.id)
      if (id === undefined || folders.has(id) || folders.size >= LIMIT || !isKept(item, id, roles)) continue
      folders.set(id, remoteFolder(item, id, roles.get(id) ?? null))
      if (item.childFolderCount !== 0) parents.push(id)
    }
    level = await children(graph, parents, signal)
  }
  return [...folders.values()]
}

async function children(graph: Graph, parents: readonly string[], signal: AbortSignal | undefined): Promise<Json[]> {
  const items = parents.map((id) => ({ path: `/me/mailFolders/${segment(id)}/childFolders`, query: FIELDS }))
  const outcome = await graph.batch(items, { doing: DOING, signal })
  const found: Json[] = []
  for (const item of items) {
    const answer = outcome.get(item)
    if (answer instanceof ProviderError && answer.kind === 'not_found') continue
    found.push(...(await allPages(graph, answer, signal)))
  }
  return found
}

async function allPages(
  graph: Graph,
  first: Json | ProviderError | undefined,
  signal: AbortSignal | undefined,
): Promise<Json[]> {
  let { items, nextLink } = answeredPage(first, DOING)
  const all = [...items]
  while (nextLink !== undefined && all.length < LIMIT) {
    const path = graph.pathOf(nextLink, DOING)
    ;({ items, nextLink } = await graph.page(path, { doing: DOING, signal }))
    all.push(...items)
  }
  return all
}

/** A mailbox may lack any of them but the inbox. */
function idOf(outcome: Json | ProviderError | undefined, name: string): string | undefined {
  const isMissing = outcome instanceof ProviderError && (outcome.kind === 'not_found' || outcome.kind === 'rejected')
  if (isMissing && name !== 'inbox') return undefined
  return text(answered(outcome).id)
}

function isKept(item: Json, id: string, roles: ReadonlyMap<string, FolderRole | null>): boolean {
  const isSearch = (text(item['@odata.type']) ?? '').endsWith('mailSearchFolder')
  return item.isHidden !== true && !isSearch && roles.get(id) !== null
}

function remoteFolder(item: Json, id: string, role: FolderRole | null): RemoteFolder {
  const name = truncateText((text(item.displayName) ?? '').toWellFormed(), NAME_LIMIT) || id
  return { path: id, name, delimiter: null, role, selectable: true, mailboxId: null }
}
