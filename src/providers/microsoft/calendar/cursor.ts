import type { Static } from 'typebox'
import * as Type from 'typebox'
import { rethrowProgrammingError } from '../../../platform/errors/programming-errors.ts'
import { ProviderError } from '../../contract/index.ts'
import { parser } from '../../shared/rest/index.ts'

const cursorSchema = Type.Object({
  v: Type.Literal(1),
  /** The range of the delta query. */
  from: Type.Number(),
  to: Type.Number(),
  /** The next delta request: a query (`?$deltatoken=…`), or a path where Graph returned another form. */
  next: Type.String({ minLength: 1, maxLength: 3900 }),
  /** When Graph returned `next`. */
  atMs: Type.Number(),
  /** The range is being listed. `since`: the listing follows another one, and only later events are new. */
  listing: Type.Optional(Type.Object({ since: Type.Union([Type.Number(), Type.Null()]) })),
})
export type Cursor = Static<typeof cursorSchema>
const parseCursor = parser(cursorSchema)

/** Throws `cursor_expired` for anything that this version did not write. */
export function readCursor(written: string): Cursor {
  try {
    return parseCursor(JSON.parse(written))
  } catch (error) {
    rethrowProgrammingError(error)
    throw new ProviderError('cursor_expired', 'the stored cursor of the calendar is not readable')
  }
}
