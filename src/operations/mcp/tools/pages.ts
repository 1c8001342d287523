import * as Type from 'typebox'
import type { Pagination } from '../../../ui/generated/api-objects.ts'

/** The facts of a result that lists one page. */
export const PAGE_FACTS = {
  returned: Type.Integer(),
  total: Type.Optional(
    Type.Integer({ description: 'How many items there are; at least, when totalIsMinimum is true.' }),
  ),
  totalIsMinimum: Type.Optional(Type.Boolean()),
  nextCursor: Type.Optional(Type.String({ description: 'Pass it as cursor to get the next items.' })),
}

export function pageFacts(returned: number, { total, totalCapped, nextCursor }: Pagination) {
  return {
    returned,
    total,
    ...(totalCapped === true && { totalIsMinimum: true }),
    ...(nextCursor !== undefined && { nextCursor }),
  }
}

/** "3 messages." or "20 of 412 messages. Call again with cursor …". */
export function pageSummary(noun: string, returned: number, pagination: Pagination): string {
  const { total, totalCapped, nextCursor } = pagination
  const plural = `${noun}${returned === 1 && total === 1 ? '' : 's'}`
  const count =
    total > returned ? `${returned} of ${totalCapped ? 'at least ' : ''}${total} ${plural}` : `${returned} ${plural}`
  return nextCursor === undefined ? `${count}.` : `${count}. More: call again with cursor set to nextCursor.`
}
