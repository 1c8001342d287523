import type { Static } from 'typebox'
import * as Type from 'typebox'
import { rethrowProgrammingError } from '../../../platform/errors/programming-errors.ts'
import { ProviderError } from '../../contract/index.ts'
import { parser } from '../../shared/rest/index.ts'

/** The position of a mailbox. A historyId is text, because it does not fit into a number. */
const cursorSchema = Type.Object({
  /** Changes after this historyId are not stored. During a listing or a comparison: the position when it began. */
  history: Type.String({ pattern: '^[0-9]{1,30}$' }),
  /** Ids of messages that are stored already, of the page of the list or of the history that is read next; separated by spaces. */
  done: Type.Optional(Type.String()),
  /** The first sync: the next page of the list, and how many messages are left to fetch. */
  listing: Type.Optional(Type.Object({ page: Type.String({ maxLength: 2000 }), left: Type.Integer({ minimum: 0 }) })),
  /** A comparison: the last stored message that was compared; absent at the beginning. */
  comparing: Type.Optional(
    Type.Object({ behind: Type.Optional(Type.Object({ id: Type.String(), receivedAt: Type.Number() })) }),
  ),
})

export type Cursor = Static<typeof cursorSchema>

const parseCursor = parser(cursorSchema)

export function readCursor(text: string): Cursor {
  try {
    return parseCursor(JSON.parse(text))
  } catch (error) {
    rethrowProgrammingError(error)
    throw new ProviderError('cursor_expired', 'the stored cursor of the mailbox is not readable')
  }
}

export function writeCursor(cursor: Cursor): string {
  return JSON.stringify(cursor)
}

/** A cursor must stay short. Messages beyond are fetched again when a sync is interrupted. */
const MAX_DONE = 200

export function readDone({ done = '' }: Cursor): Set<string> {
  return new Set(done.split(' ').filter((id) => id !== ''))
}

export function writeDone(ids: ReadonlySet<string>): { done?: string } {
  return ids.size === 0 ? {} : { done: [...ids].slice(-MAX_DONE).join(' ') }
}
