import { pageOf, pageRequest } from '../../../lib/page.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'
import { type LabelRow, labelStore } from '../../labels/index.ts'
import { allMail } from '../store.ts'
import type { FolderDeps } from './folder.ts'
import type { MessageList } from './list.ts'
import type { SearchWords } from './search.ts'
import type { ListFilter, MessageListQuery } from './stored-list.ts'
import { completeTexts, readTexts } from './texts.ts'

export interface FoundList {
  accountId: string
  provider: ProviderName
  /** A synced folder or label. Undefined: everything outside trash and junk. */
  folder: LabelRow | undefined
  words: SearchWords
  filter: ListFilter
}

/** Lists the stored messages that a search finds, newest first. */
export async function listFound(
  { db, search }: FolderDeps,
  { accountId, provider, folder, words, filter }: FoundList,
  query: MessageListQuery,
  fingerprint: unknown,
): Promise<MessageList> {
  const request = pageRequest(query, fingerprint, ['integer', 'text'])
  const { after, offset, limit } = request
  const labelIds = folder === undefined ? await everywhere() : [folder.id]
  const { hits, total, partial } = await search.find({ accountId, labelIds, words, filter, after, offset, limit })
  const { items, pagination } = pageOf(hits, request, total, fingerprint, (hit) => [hit.receivedAt, hit.messageId])
  const texts = await readTexts(
    db,
    items.map((hit) => hit.messageId),
  )
  const scope = { provider, labelId: folder?.id ?? null, folder: folder?.name ?? null }
  return {
    messages: await completeTexts(db, accountId, scope, texts),
    pagination: { ...pagination, ...(partial && { partial }) },
  }

  async function everywhere(): Promise<string[]> {
    if (provider !== 'imap') return [allMail(accountId)]
    const labels = await labelStore(db.read).all(accountId)
    const isSearched = ({ syncedAs, role }: LabelRow) => syncedAs !== null && role !== 'trash' && role !== 'junk'
    return labels.filter(isSearched).map(({ id }) => id)
  }
}
