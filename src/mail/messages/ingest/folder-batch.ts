import type { FolderRole, FolderStep, RemoteMessage } from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'
import { type EventBodies, messageEvent } from '../announce.ts'
import { changeTypes } from '../event-types.ts'
import type { IncomingRow } from '../rows/row.ts'
import type { MessageRow } from '../store.ts'
import type { Batch, SyncRead } from './batch.ts'
import type { Presence } from './matching/match.ts'

/** The result of reading one folder. */
export interface FolderRead extends SyncRead {
  label: LabelRow
  /** UIDVALIDITY of the UIDs. Null before the first message. */
  uidValidity: string | null
  /** UIDs that the folder no longer has. */
  removed?: readonly number[]
  /** New flags. Unknown UIDs are ignored. */
  changed?: FolderStep['changed']
  added: readonly RemoteMessage[]
  /** Whether rows stored in other folders are still there, as reported by the server. */
  presence: Presence
  /** Bodies by UID; empty unless events include bodies. */
  bodies: ReadonlyMap<number, EventBodies>
}

export type FolderBatch = Batch<FolderRead>

/** A message and its columns. */
export interface Incoming {
  message: RemoteMessage
  row: IncomingRow
}

/** A row, and the message that it becomes. */
export interface Match {
  row: MessageRow
  incoming: IncomingRow
}

/** Adds the events of a message that changed in the folder, or was moved there. */
export function announceChange({ read, changes }: FolderBatch, row: MessageRow, roleBefore: FolderRole | null): void {
  for (const type of changeTypes(roleBefore, read.label.role)) {
    changes.events.push(messageEvent(type, row, read.label, read.provider))
  }
}
