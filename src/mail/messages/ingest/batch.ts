import type { ApiChanges } from '../../../accounts/index.ts'
import type { Recorder } from '../../../events/index.ts'
import type { Db, Tx } from '../../../platform/db/index.ts'
import type { Ids } from '../../../platform/ids.ts'
import type { Log } from '../../../platform/log/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import type { ProviderName, RemoteMessage } from '../../../providers/contract/index.ts'
import type { BodyFetcher } from '../bodies/fetcher.ts'
import { type MessageWriter, messageWriter } from '../rows/writer.ts'
import { type MessageStore, messageStore } from '../store.ts'
import { type Changes, noChanges } from './events-and-counts.ts'

export interface IngestDeps {
  db: Pick<Db, 'dialect'>
  clock: Clock
  ids: Ids
  log: Log
  events: Recorder
  /** Requests the bodies of messages just stored. Set where bodies are stored. */
  requestBodies?: BodyFetcher['request'] | undefined
  /** Requests that received messages be read that are perhaps reports about the delivery of sent ones. */
  requestReports(tx: Tx, accountId: string, messageIds: readonly string[]): Promise<void>
}

/** The account and provider of a read, and the API changes that it may not contain. */
export interface Read {
  accountId: string
  provider: ProviderName
  /** Taken before the provider was asked for the messages. */
  apiChanges: ApiChanges
}

/** The context in which sync read messages. */
export interface SyncRead extends Read {
  /** Whether a message that matches no stored one is announced. */
  isNew(message: RemoteMessage, row: { receivedAt: number }): boolean
}

/** One transaction of ingest. */
export interface Batch<R extends Read, D = IngestDeps> {
  tx: Tx
  deps: D
  read: R
  nowMs: number
  store: MessageStore
  writer: MessageWriter
  changes: Changes
}

export function openBatch<R extends Read, D extends Pick<IngestDeps, 'db' | 'clock'>>(
  tx: Tx,
  deps: D,
  read: R,
): Batch<R, D> {
  const nowMs = deps.clock.now()
  return {
    tx,
    deps,
    read,
    nowMs,
    store: messageStore(tx),
    writer: messageWriter(tx, { dialect: deps.db.dialect, accountId: read.accountId, nowMs }),
    changes: noChanges(),
  }
}

/** Whether the row was changed through the API since the provider was asked. */
export function isStale({ read }: Pick<Batch<Read>, 'read'>, { apiChange }: { apiChange: number | null }): boolean {
  return (apiChange ?? 0) > read.apiChanges.latest
}
