import { Type } from 'typebox'
import { ProviderError } from '../contract/index.ts'
import { type RestMailbox, type RestRequest, shape } from '../rest/index.ts'
import { COST, ME } from './api.ts'

const message = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  labelIds: Type.Optional(Type.Array(Type.String())),
})
const changes = Type.Optional(Type.Array(Type.Object({ message })))
const historyPage = shape(
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

/** What a stretch of history comes to, message by message. */
export interface Folded {
  added: string[]
  /** With all their labels; null where the history does not say them. */
  relabelled: { id: string; labels: string[] | null }[]
  removed: string[]
}

export interface HistoryPage extends Folded {
  /** Where to begin after it. */
  next: string
  isLast: boolean
}

const TYPES = ['messageAdded', 'messageDeleted', 'labelAdded', 'labelRemoved']

/** What happened after this historyId, at most so many records of it. Throws `cursor_expired` when Gmail has forgotten. */
export async function readHistory(
  mailbox: RestMailbox,
  since: string,
  {
    signal,
    maxResults = 500,
    historyTypes = TYPES,
  }: { signal: AbortSignal; maxResults?: number; historyTypes?: string[] },
): Promise<HistoryPage> {
  for (let pageToken: string | undefined; ; ) {
    const query = { startHistoryId: since, maxResults, historyTypes, pageToken }
    const { history = [], historyId, nextPageToken } = await askHistory(mailbox, query, signal)
    const last = history.at(-1)?.id
    if (!nextPageToken) return { ...fold(history), next: historyId, isLast: true }
    // The last record's own id leads on as well as the page token does, and needs nothing but itself after a crash.
    if (last !== undefined) return { ...fold(history), next: last, isLast: false }
    if (nextPageToken === pageToken) {
      throw new ProviderError('unavailable', 'reading the history of the mailbox: a page leads to itself')
    }
    // A page may hold nothing of the types asked for, and more may follow it.
    pageToken = nextPageToken
  }
}

async function askHistory(mailbox: RestMailbox, query: NonNullable<RestRequest['query']>, signal: AbortSignal) {
  const doing = 'reading the history of the mailbox'
  const request = { method: 'GET', path: `${ME}/history`, query, doing, cost: COST.history, signal } as const
  return mailbox.json(request, historyPage).catch((error: unknown) => {
    const isOld = error instanceof ProviderError && error.kind === 'not_found'
    throw isOld ? new ProviderError('cursor_expired', `${doing}: it is too old to go on from`, { cause: error }) : error
  })
}

type HistoryRecord = NonNullable<ReturnType<typeof historyPage>['history']>[number]

/** Many records of a message become one: what it is after the last of them. */
function fold(history: readonly HistoryRecord[]): Folded {
  const states = new Map<string, { kind: 'added' | 'removed' | 'relabelled'; labels: string[] | null }>()
  for (const { messagesAdded = [], messagesDeleted = [], labelsAdded = [], labelsRemoved = [] } of history) {
    for (const { message } of messagesAdded) states.set(message.id, { kind: 'added', labels: null })
    for (const { message } of [...labelsAdded, ...labelsRemoved]) {
      if (states.get(message.id)?.kind === 'added') continue
      // Without the member it carries none, or Gmail left it out: only the message itself can tell.
      states.set(message.id, { kind: 'relabelled', labels: message.labelIds ?? null })
    }
    for (const { message } of messagesDeleted) states.set(message.id, { kind: 'removed', labels: null })
  }
  const of = (kind: string) => [...states].filter(([, state]) => state.kind === kind)
  return {
    added: of('added').map(([id]) => id),
    relabelled: of('relabelled').map(([id, { labels }]) => ({ id, labels })),
    removed: of('removed').map(([id]) => id),
  }
}
