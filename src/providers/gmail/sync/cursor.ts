import { type Static, Type } from 'typebox'
import { rethrowProgrammingError } from '../../../lib/programming-errors.ts'
import { ProviderError } from '../../contract/index.ts'
import { parser } from '../../rest/index.ts'

/** The position of a mailbox. A historyId is text, because it does not fit into a number. */
const cursorSchema = Type.Object({
  /** Changes after this historyId are not stored. During a listing or a comparison: the position when it began. */
  history: Type.String({ pattern: '^[0-9]{1,30}$' }),
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
