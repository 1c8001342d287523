import { type Static, Type } from 'typebox'
import { ProviderError } from '../contract/index.ts'
import { shape } from '../rest/index.ts'

/**
 * How far a mailbox was brought. A historyId is text: it does not fit into a number. While the mailbox is listed or compared, history
 * begins where it stood before.
 */
const cursorShape = Type.Object({
  history: Type.String({ pattern: '^[0-9]{1,30}$' }),
  /** The first sync: the page of the list to go on with, and how many mails it may still bring. */
  listing: Type.Optional(Type.Object({ page: Type.String({ maxLength: 2000 }), left: Type.Integer({ minimum: 0 }) })),
  /** A comparison: the last stored mail that was looked at; absent at the beginning. */
  comparing: Type.Optional(
    Type.Object({ behind: Type.Optional(Type.Object({ id: Type.String(), receivedAt: Type.Number() })) }),
  ),
})

export type Cursor = Static<typeof cursorShape>

const read = shape(cursorShape)

export function readCursor(text: string): Cursor {
  try {
    return read(JSON.parse(text))
  } catch {
    throw new ProviderError('cursor_expired', 'the stored position in the mailbox cannot be read')
  }
}

export function writeCursor(cursor: Cursor): string {
  return JSON.stringify(cursor)
}
