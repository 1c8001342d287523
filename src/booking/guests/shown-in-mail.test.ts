import { expect, it } from 'vitest'
import type { BookingRow } from '../tables.ts'
import { shownReason } from './shown-in-mail.ts'

it.each([
  ['what the application wrote', { reason: 'No.', isReasonInternal: 0, cancelledBy: null }, 'No.'],
  ['what the service wrote', { reason: 'The endpoint returned 500.', isReasonInternal: 1, cancelledBy: null }, null],
  ['what the service wrote about the host', { reason: 'Deleted.', isReasonInternal: 1, cancelledBy: 'host' }, null],
] as const)('a message to a guest about %s has the right reason', (_what, row, shown) => {
  expect(shownReason({ ...row, verifiedBy: null } as BookingRow, false)).toBe(shown)
})
