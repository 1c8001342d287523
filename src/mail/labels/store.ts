import type { Selectable, Updateable } from 'kysely'
import { compiledOnce, type Handle, type Tables, type Tx } from '../../platform/db/index.ts'
import { cleanText } from '../../platform/formats/text.ts'
import type { ProviderName, RemoteFolder } from '../../providers/contract/index.ts'

export type LabelRow = Selectable<Tables['labels']>

const ROWS_PER_INSERT = 200

const incrementVersion = compiledOnce((handle, id: string) =>
  handle
    .updateTable('labels')
    .set((eb) => ({ version: eb('version', '+', 1) }))
    .where('id', '=', id)
    .returning('version'),
)

/** Reads and writes labels. The methods that write need a `Tx`. */
export function labelStore(handle: Handle) {
  return {
    /** All labels of the account by provider id. */
    all(accountId: string): Promise<LabelRow[]> {
      return handle.selectFrom('labels').selectAll().where('accountId', '=', accountId).orderBy('providerId').execute()
    },

    /** The folders that can hold messages. */
    selectable(accountId: string): Promise<Pick<LabelRow, 'id' | 'name' | 'providerId'>[]> {
      return handle
        .selectFrom('labels')
        .select(['id', 'name', 'providerId'])
        .where('accountId', '=', accountId)
        .where('selectable', '=', 1)
        .execute()
    },

    /** By our id or the provider's, in which INBOX is case-insensitive. Our id takes precedence. */
    async find(accountId: string, idOrProviderId: string): Promise<LabelRow | undefined> {
      const providerId = idOrProviderId.toUpperCase() === 'INBOX' ? 'INBOX' : idOrProviderId
      const rows = await handle
        .selectFrom('labels')
        .selectAll()
        .where('accountId', '=', accountId)
        .where((eb) => eb.or([eb('id', '=', idOrProviderId), eb('providerId', '=', providerId)]))
        .execute()
      return rows.find((row) => row.id === idOrProviderId) ?? rows[0]
    },

    async byIds(ids: readonly string[]): Promise<Map<string, LabelRow>> {
      if (ids.length === 0) return new Map()
      const rows = await handle
        .selectFrom('labels')
        .selectAll()
        .where('id', 'in', [...ids])
        .execute()
      return new Map(rows.map((row) => [row.id, row]))
    },

    /** Skips rows whose provider id the account already has. */
    async insert(rows: readonly LabelRow[]): Promise<void> {
      for (let start = 0; start < rows.length; start += ROWS_PER_INSERT) {
        await handle
          .insertInto('labels')
          .values(rows.slice(start, start + ROWS_PER_INSERT))
          .onConflict((conflict) => conflict.columns(['accountId', 'providerId']).doNothing())
          .execute()
      }
    },

    async update(id: string, changes: Updateable<Tables['labels']>): Promise<void> {
      await handle.updateTable('labels').set(changes).where('id', '=', id).execute()
    },

    /** Returns the new version. */
    async incrementVersion(id: string): Promise<number> {
      const [label] = await incrementVersion(handle, id)
      if (label === undefined) throw new Error(`there is no label ${id}`)
      return label.version
    },

    async remove(id: string): Promise<void> {
      await handle.deleteFrom('labels').where('id', '=', id).execute()
    },
  }
}

export type LabelStore = ReturnType<typeof labelStore>

/** Deletes up to `limit` labels of a deleted account. Returns the number of deleted rows. */
export async function eraseLabels(tx: Tx, accountId: string, limit: number): Promise<number> {
  const some = tx.selectFrom('labels').select('id').where('accountId', '=', accountId).limit(limit)
  const { numDeletedRows } = await tx.deleteFrom('labels').where('id', 'in', some).executeTakeFirst()
  return Number(numDeletedRows)
}

export function newLabelRow(
  folder: RemoteFolder,
  { id, accountId, provider, nowMs }: { id: string; accountId: string; provider: ProviderName; nowMs: number },
): LabelRow {
  return {
    id,
    accountId,
    ...providerColumns(folder, provider),
    displayName: cleanText(folder.name),
    color: folder.color ?? null,
    providerColor: folder.color ?? null,
    syncedAs: null,
    version: 0,
    createdAt: nowMs,
    updatedAt: nowMs,
  }
}

/** The columns that come from the provider alone. Outside imap the path is an opaque id, so the name is another one. */
function providerColumns(folder: RemoteFolder, provider: ProviderName) {
  return {
    providerId: cleanText(folder.path),
    name: cleanText(provider === 'imap' ? folder.path : (folder.fullName ?? folder.name)),
    providerName: cleanText(folder.name),
    type: folder.role === null && folder.system !== true ? ('user' as const) : ('system' as const),
    role: folder.role,
    delimiter: folder.delimiter,
    mailboxId: folder.mailboxId,
    selectable: folder.selectable ? 1 : 0,
  }
}

/** The columns of a listed label. What the API set beside the provider's name and colour stays until the provider's change. */
export function listedColumns(row: LabelRow, folder: RemoteFolder, provider: ProviderName) {
  const columns = providerColumns(folder, provider)
  return {
    ...columns,
    displayName: row.providerName === columns.providerName ? row.displayName : columns.providerName,
    ...(folder.color !== undefined &&
      folder.color !== row.providerColor && { color: folder.color, providerColor: folder.color }),
  }
}

/** True when the row already has what the listing says. */
export function isAsListed(row: LabelRow, folder: RemoteFolder, provider: ProviderName): boolean {
  return Object.entries(listedColumns(row, folder, provider)).every(
    ([column, value]) => row[column as keyof LabelRow] === value,
  )
}
