import { invalid, notFound } from '../../../platform/errors/app-error.ts'
import { buildPage, type PageQuery, type Pagination, pageRequest } from '../../../platform/formats/pagination.ts'
import { isoTime } from '../../../platform/time/time.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'
import { labelStore } from '../../labels/index.ts'
import { completeTexts, readTexts } from '../read/list-json.ts'
import type { LiveAccessDeps } from '../read/live-access.ts'
import { readDefaultScope } from '../read/stored-list.ts'
import type { Thread, ThreadDetail } from './api.ts'
import { currentThreads } from './merges.ts'
import { type ThreadSummary, threadStore } from './store.ts'

interface ThreadQuery extends PageQuery {
  labelId?: string | undefined
}

/** Reads threads of stored messages. Methods take an account id or `customUserId` and throw `not_found`. */
export function threadReader({ db, accounts }: Pick<LiveAccessDeps, 'db' | 'accounts'>) {
  const store = threadStore(db.read)

  return {
    /** By default the threads of the main folder, or of all messages for gmail and microsoft. */
    async list(idOrAlias: string, query: ThreadQuery): Promise<{ threads: Thread[]; pagination: Pagination }> {
      const { id: accountId, provider } = await accounts.resolve(db.read, idOrAlias)
      const fingerprint = [accountId, 'threads', query.labelId]
      const request = pageRequest(query, fingerprint, ['integer', 'text'])
      const labelId = await chooseLabel(accountId, query.labelId)
      const rows = labelId === null ? [] : await store.page(labelId, request)
      const total = labelId === null ? 0 : await store.count(accountId, labelId)
      const { items, pagination } = buildPage(rows, request, total, fingerprint, (row) => [
        row.lastReceivedAt,
        row.threadId,
      ])
      const ids = items.map((row) => row.threadId)
      const summaries = await store.summaries(accountId, ids)
      return { threads: summaries.map((summary) => toView(accountId, provider, summary)), pagination }
    },

    /** A thread and a page of its messages, newest first. A thread that was merged into another one is that thread. */
    async detail(idOrAlias: string, requested: string, query: PageQuery): Promise<ThreadDetail> {
      const { id: accountId, provider } = await accounts.resolve(db.read, idOrAlias)
      const threadId = (await currentThreads(db.read, [requested]))(requested)
      const fingerprint = [accountId, requested]
      const request = pageRequest(query, fingerprint, ['integer', 'text'])
      const [first] = await store.messages(accountId, threadId, { page: 1, limit: 0, offset: 0 })
      const [summary] = first === undefined ? [] : await store.summaries(accountId, [threadId])
      if (summary === undefined) throw notFound('thread', requested)
      const rows = await store.messages(accountId, threadId, request)
      const { items, pagination } = buildPage(rows, request, summary.messageCount, fingerprint, (row) => [
        row.receivedAt,
        row.id,
      ])
      const ids = items.map((row) => row.id)
      const scope = { provider, labelId: null, folder: null }
      const messages = await completeTexts(db, accountId, scope, await readTexts(db, ids))
      return { ...toView(accountId, provider, summary), messages: JSON.parse(`[${messages}]`), pagination }
    },
  }

  async function chooseLabel(accountId: string, requested: string | undefined): Promise<string | null> {
    if (requested === undefined) return (await readDefaultScope(db.read, accountId))?.labelId ?? null
    const label = await labelStore(db.read).find(accountId, requested)
    if (label === undefined) throw notFound('label', requested)
    if (label.syncedAs === null) {
      throw invalid('query.labelId', 'names a folder that is not synced; add it to sync.folders')
    }
    return label.id
  }
}

export type ThreadReader = ReturnType<typeof threadReader>

function toView(accountId: string, provider: ProviderName, summary: ThreadSummary): Thread {
  const { threadId, firstReceivedAt, lastReceivedAt, ...rest } = summary
  return {
    id: threadId,
    accountId,
    provider,
    ...rest,
    firstMessageAt: isoTime(firstReceivedAt),
    lastMessageAt: isoTime(lastReceivedAt),
  }
}
