import * as Type from 'typebox'
import { ProviderError } from '../../contract/index.ts'
import { PageLinks, parser, type RestRequest } from '../../shared/rest/index.ts'
import { ME } from '../client.ts'
import type { GmailMailbox } from '../quota.ts'

const message = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  labelIds: Type.Optional(Type.Array(Type.String())),
})
const changes = Type.Optional(Type.Array(Type.Object({ message })))
const parseHistory = parser(
  Type.Object({
    history: Type.Optional(
      Type.Array(
        Type.Object({
          id: Type.String({ pattern: '^[0-9]{1,30}$' }),
          messagesAdded: changes,
          messagesDeleted: changes,
          labelsAdded: changes,
          labelsRemoved: changes,
        }),
      ),
    ),
    historyId: Type.String({ pattern: '^[0-9]{1,30}$' }),
    nextPageToken: Type.Optional(Type.String()),
  }),
)

export interface HistoryPage {
  added: string[]
  /** The labels of added messages, where the history contains them. */
  labels: ReadonlyMap<string, string[]>
  /** With all labels of the message; null where the history does not contain them. */
  relabelled: { id: string; labels: string[] | null }[]
  removed: string[]
  /** The historyId to continue from. */
  next: string
  isLast: boolean
}

const TYPES = ['messageAdded', 'messageDeleted', 'labelAdded', 'labelRemoved']
const DOING = 'reading the history of the mailbox'

interface HistoryOptions {
  signal: AbortSignal
  maxResults?: number
  historyTypes?: string[]
  /** Ids of messages that are stored already: that they were added is left out, their later changes are returned. */
  stored?: ReadonlySet<string>
}

const NONE: ReadonlySet<string> = new Set()

/** Reads up to `maxResults` history records after `since`. Throws `cursor_expired` when Gmail no longer has them. */
export async function readHistory(
  mailbox: GmailMailbox,
  since: string,
  { signal, maxResults = 500, historyTypes = TYPES, stored = NONE }: HistoryOptions,
): Promise<HistoryPage> {
  const links = new PageLinks(DOING)
  for (let pageToken: string | undefined; ; ) {
    const query = { startHistoryId: since, maxResults, historyTypes, pageToken }
    const { history = [], historyId, nextPageToken } = await requestPage(mailbox, query, signal)
    const lastId = history.at(-1)?.id
    if (!nextPageToken) return { ...perMessage(history, stored), next: historyId, isLast: true }
    // Continuing from the last record's id works like the page token, and also after a crash.
    if (lastId !== undefined) return { ...perMessage(history, stored), next: lastId, isLast: false }
    // A page may be empty although later pages have records of these types.
    pageToken = links.follow(nextPageToken, 0)
  }
}

async function requestPage(mailbox: GmailMailbox, query: NonNullable<RestRequest['query']>, signal: AbortSignal) {
  const request = {
    method: 'GET',
    path: `${ME}/history`,
    query,
    doing: DOING,
    cost: mailbox.costs.history,
    signal,
  } as const
  return mailbox.json(request, parseHistory).catch((error: unknown) => {
    const isTooOld = error instanceof ProviderError && error.kind === 'not_found'
    throw isTooOld ? new ProviderError('cursor_expired', `${DOING}: the cursor has expired`, { cause: error }) : error
  })
}

type HistoryRecord = NonNullable<ReturnType<typeof parseHistory>['history']>[number]

/** Reduces the records of each message to its state after the last one. */
function perMessage(
  history: readonly HistoryRecord[],
  stored: ReadonlySet<string>,
): Pick<HistoryPage, 'added' | 'labels' | 'relabelled' | 'removed'> {
  const states = new Map<string, { kind: 'added' | 'removed' | 'relabelled'; labels: string[] | null }>()
  for (const { messagesAdded = [], messagesDeleted = [], labelsAdded = [], labelsRemoved = [] } of history) {
    for (const { message } of messagesAdded.filter((entry) => !stored.has(entry.message.id)))
      states.set(message.id, { kind: 'added', labels: message.labelIds ?? null })
    for (const { message } of [...labelsAdded, ...labelsRemoved]) {
      if (states.get(message.id)?.kind === 'added') {
        states.set(message.id, { kind: 'added', labels: message.labelIds ?? null })
        continue
      }
      // Without `labelIds` the message has no labels, or Gmail left them out: the message must be fetched to find out.
      states.set(message.id, { kind: 'relabelled', labels: message.labelIds ?? null })
    }
    for (const { message } of messagesDeleted) states.set(message.id, { kind: 'removed', labels: null })
  }
  const ofKind = (kind: string) => [...states].filter(([, state]) => state.kind === kind)
  return {
    added: ofKind('added').map(([id]) => id),
    labels: new Map(ofKind('added').flatMap(([id, { labels }]) => (labels === null ? [] : [[id, labels] as const]))),
    relabelled: ofKind('relabelled').map(([id, { labels }]) => ({ id, labels })),
    removed: ofKind('removed').map(([id]) => id),
  }
}
