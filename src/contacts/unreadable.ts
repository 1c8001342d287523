import { UnreadableItems } from '../accounts/collections/index.ts'
import { bookStore } from './store.ts'

/** Contacts that cannot be read. */
export const unreadableContacts = new UnreadableItems({
  table: 'unreadableContacts',
  collectionId: 'bookId',
  saveCount: (tx, id, unreadable) => bookStore(tx).update(id, { unreadable }),
})
