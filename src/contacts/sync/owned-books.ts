import type { UnreadableItem } from '../../accounts/collections/index.ts'
import type { Fence } from '../../accounts/index.ts'
import type { Recorder } from '../../events/index.ts'
import type { Db } from '../../platform/db/index.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { ContactsAccount, ProviderName } from '../../providers/contract/index.ts'
import type { BookRow } from '../store.ts'
import type { ContactCounts } from './apply.ts'

export interface AccountBooksDeps {
  db: Db
  events: Recorder
  ids: Ids
  clock: Clock
  fence: Fence
}

export interface OwnedBooks {
  accountId: string
  epoch: number
  provider: ProviderName
  remote: ContactsAccount
  signal: AbortSignal
  /** Called after each transaction that stored contacts. */
  onStored?(counts: ContactCounts): void
  /** Called with contacts that cannot be read, and were not known as such. */
  onUnreadable?(book: BookRow, contacts: readonly UnreadableItem[]): void
}
