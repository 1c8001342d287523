import { cleanText } from '../../lib/text.ts'
import type { ProviderName, RemoteFolder } from '../../providers/contract/index.ts'
import type { LabelRow } from './store.ts'

/** A new row for a folder the provider listed. */
export function newLabelRow(
  folder: RemoteFolder,
  { id, accountId, provider, nowMs }: { id: string; accountId: string; provider: ProviderName; nowMs: number },
): LabelRow {
  return {
    id,
    accountId,
    ...providerColumns(folder, provider),
    syncedAs: null,
    color: null,
    version: 0,
    createdAt: nowMs,
    updatedAt: nowMs,
  }
}

/** The columns that come from the provider. What people read is the path for imap; elsewhere the path is an id. */
export function providerColumns(folder: RemoteFolder, provider: ProviderName) {
  return {
    providerId: cleanText(folder.path),
    name: cleanText(provider === 'imap' ? folder.path : folder.name),
    displayName: cleanText(folder.name),
    type: folder.role === null && folder.system !== true ? ('user' as const) : ('system' as const),
    role: folder.role,
    delimiter: folder.delimiter,
    mailboxId: folder.mailboxId,
    selectable: folder.selectable ? 1 : 0,
  }
}

/** True when the provider describes the folder as the row has it. */
export function hasProviderColumns(row: LabelRow, folder: RemoteFolder, provider: ProviderName): boolean {
  return Object.entries(providerColumns(folder, provider)).every(
    ([column, value]) => row[column as keyof LabelRow] === value,
  )
}
