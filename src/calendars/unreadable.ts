import { UnreadableItems } from '../accounts/collections/index.ts'
import { calendarStore } from './store.ts'

/** Events that cannot be read. */
export const unreadableEvents = new UnreadableItems({
  table: 'unreadableEvents',
  collectionId: 'calendarId',
  saveCount: (tx, id, unreadable) => calendarStore(tx).update(id, { unreadable }),
})
