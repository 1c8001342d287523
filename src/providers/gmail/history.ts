import { Type } from 'typebox'
import { ProviderError } from '../provider.ts'
import { type RestMailbox, shape } from '../rest/index.ts'
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

/** What happened after this historyId, as far as one answer holds it. Throws `cursor_expired` when Gmail has forgotten. */
export async function readHistory(
  mailbox: RestMailbox,
  since: string,
  signal: AbortSignal,
  historyTypes = TYPES,
): Promise<HistoryPage> {
  const doing = 'reading the history of the mailbox'
  const query = { startHistoryId: since, maxResults: 500, historyTypes }
  const request = { method: 'GET', path: `${ME}/history`, query, doing, cost: COST.history, signal } as const
  const {
    history = [],
    historyId,
    nextPageToken,
  } = await mailbox.json(request, historyPage).catch((error: unknown) => {
    const isOld = error instanceof ProviderError && error.kind === 'not_found'
    throw isOld ? new ProviderError('cursor_expired', `${doing}: it is too old to go on from`, { cause: error }) : error
  })
  const last = history.at(-1)?.id
  const isLast = !nextPageToken || last === undefined
  // A page token would begin at the same place; the last record's own id needs nothing but itself, after a crash too.
  return { ...fold(history), next: isLast ? historyId : last, isLast }
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
