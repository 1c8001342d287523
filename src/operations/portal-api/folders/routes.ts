import * as Type from 'typebox'
import type { Accounts } from '../../../accounts/index.ts'
import type { Handle } from '../../../platform/db/index.ts'
import type { App } from '../../../platform/http/index.ts'
import { type AccountFolders, foldersSchema } from './api.ts'

/** The folders of an account with how many messages are stored, and what their sync costs. */
export function folderRoutes(app: App, handle: Handle, { accounts }: { accounts: Pick<Accounts, 'get'> }): void {
  app.get(
    '/admin/accounts/:accountId/folders',
    {
      config: { access: 'key:read' },
      schema: { hide: true, params: Type.Object({ accountId: Type.String() }), response: { 200: foldersSchema } },
    },
    async (request): Promise<AccountFolders> => {
      const { id, provider, watch } = await accounts.get(request.params.accountId)
      const rows = await handle
        .selectFrom('labels')
        .leftJoin('messageCounters', (join) =>
          join
            .onRef('messageCounters.labelId', '=', 'labels.id')
            .onRef('messageCounters.accountId', '=', 'labels.accountId'),
        )
        .select(['labels.id', 'labels.name', 'labels.role', 'labels.syncedAs', 'messageCounters.total'])
        .where('labels.accountId', '=', id)
        .where('labels.selectable', '=', 1)
        .orderBy('labels.name')
        .execute()
      const folders = rows.map(({ id: labelId, name, role, syncedAs, total }) => ({
        id: labelId,
        name,
        role,
        isMain: syncedAs?.startsWith('main:') === true,
        isSynced: syncedAs !== null,
        messages: Number(total ?? 0),
      }))
      const synced = folders.filter(({ isSynced, isMain }) => isSynced && !isMain).length
      const cost = { connections: watch ? 1 : 0, statusesPerMinute: synced }
      return { folders, cost: provider === 'imap' ? cost : null }
    },
  )
}
