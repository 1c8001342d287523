import { type FailingCollections, failingCollections } from '../../accounts/collections/index.ts'
import type { Backoff } from '../../platform/concurrency/retry.ts'
import { bookStore } from '../store.ts'
import type { AccountBooksDeps } from './owned-books.ts'

/** Address books that cannot be read. */
export function failingBooks(
  { db, clock, fence }: Pick<AccountBooksDeps, 'db' | 'clock' | 'fence'>,
  backoff: Backoff,
): FailingCollections {
  return failingCollections(
    {
      db,
      clock,
      fence,
      update: (tx, id, changes) => bookStore(tx).update(id, changes),
      notFoundReason: 'The provider lists this address book, but does not find it when its contacts are read.',
    },
    backoff,
  )
}
