import { cleanText } from '../../lib/text.ts'
import type { RemoteFolder } from '../../providers/provider.ts'
import type { LabelRow } from './store.ts'

/** A new row for a folder the provider listed. */
export function labelOf(folder: RemoteFolder, accountId: string, id: string, nowMs: number): LabelRow {
  return {
    id,
    accountId,
    ...describedBy(folder),
    syncedAs: null,
    color: null,
    version: 0,
    createdAt: nowMs,
    updatedAt: nowMs,
  }
}

/** The columns that come from the provider. */
export function describedBy(folder: RemoteFolder) {
  return {
    providerId: cleanText(folder.path),
    name: cleanText(folder.path),
    displayName: cleanText(folder.name),
    type: folder.role === null && folder.system !== true ? ('user' as const) : ('system' as const),
    role: folder.role,
    delimiter: folder.delimiter,
    mailboxId: folder.mailboxId,
    selectable: folder.selectable ? 1 : 0,
  }
}

/** True when the provider describes the folder as the row has it. */
export function isDescribedBy(row: LabelRow, folder: RemoteFolder): boolean {
  return Object.entries(describedBy(folder)).every(([column, value]) => row[column as keyof LabelRow] === value)
}
