import type { Clock } from '../../platform/time/clock.ts'
import type { FoundPage, MailboxSearch, MailSearch } from '../contract/index.ts'
import { type Graph, SYNC_LIMITS, segment } from './client.ts'
import { withDetails } from './details.ts'
import { AS_TEXT, MESSAGE_FIELDS } from './map.ts'
import { PageSize } from './page-size.ts'

const DOING = 'searching the mailbox'
const DAY_MS = 24 * 60 * 60 * 1000
/** The parameters of a link to the next page. The others are those of the first request. */
const CONTINUATION = ['$skiptoken', '$skip']

/** Searches with `$search`, which Graph does not combine with `$filter` or `$orderby`. It returns 1,000 messages at most, by the time they were sent. */
export async function searchMailbox(
  graph: Graph,
  clock: Clock,
  { search, folder, limit, page, signal }: MailboxSearch,
): Promise<FoundPage> {
  const path = folder === undefined ? '/me/messages' : `/me/mailFolders/${segment(folder)}/messages`
  const next = Object.fromEntries(pickContinuation(page ?? ''))
  const query = { ...MESSAGE_FIELDS, $search: `"${buildQuery(search)}"`, ...next }
  const request = { prefer: [AS_TEXT], doing: DOING, signal, ...SYNC_LIMITS }
  const { items, nextLink } = await new PageSize().read(limit, ($top) =>
    graph.page(path, { query: { ...query, $top }, ...request }),
  )
  const context = { folderId: folder ?? '', isNew: () => false, nowMs: clock.now(), signal }
  const found = await withDetails(graph, items, context)
  const rest =
    nextLink === undefined ? [] : pickContinuation(graph.resolvePath(nextLink, DOING).split(/\?(.*)/s)[1] ?? '')
  return { found, next: rest.length === 0 ? null : String(new URLSearchParams(rest)) }
}

function pickContinuation(query: string): [string, string][] {
  return [...new URLSearchParams(query)].filter(([name]) => CONTINUATION.includes(name))
}

/**
 * In KQL, as the content of a quoted string. A word alone is searched in sender, subject and body only, and restrictions of the same
 * property would be alternatives without AND. Operators are upper case, and words are lower case. Times are days, whose zone is unknown.
 */
export function buildQuery({ text = [], from = [], to = [], subject = [], ...limits }: MailSearch): string {
  const { after, before, hasAttachments } = limits
  const parts = [
    ...values(text).map((word) => `(${word} OR recipients:${word} OR attachment:${word})`),
    ...values(from).map((word) => `from:${word}`),
    ...values(to).map((word) => `recipients:${word}`),
    ...values(subject).map((word) => `subject:${word}`),
  ]
  if (after !== undefined) parts.push(`received>=${formatDay(after - DAY_MS)}`)
  if (before !== undefined) parts.push(`received<=${formatDay(before + DAY_MS)}`)
  if (hasAttachments !== undefined) parts.push(`hasAttachments:${hasAttachments}`)
  return parts.join(' AND ')
}

const PLAIN = /^[\p{L}\p{N}\p{M}]+$/u

/** Quotes addresses, because some of their characters are operators. The last word may continue. */
function values(words: readonly string[]): string[] {
  return words.map((word, index) => {
    const lower = word.toLowerCase()
    if (!PLAIN.test(lower)) return `\\"${lower.replaceAll(/["\\]/g, '')}\\"`
    return index === words.length - 1 ? `${lower}*` : lower
  })
}

function formatDay(ms: number): string {
  return new Date(Math.max(0, ms)).toISOString().slice(0, 10)
}
