import { type Static, Type } from 'typebox'
import type { Db } from '../../infra/db/index.ts'
import { type App, listOf, pageQuery } from '../../infra/http/index.ts'
import { nullable, timestamp } from '../../lib/json-schema.ts'
import { pageOfAll } from '../../lib/page.ts'
import { isoTime } from '../../lib/time.ts'
import type { Accounts } from '../accounts/index.ts'
import { type LabelRow, labelStore } from './store.ts'

const labelSchema = Type.Object(
  {
    id: Type.String({ examples: ['lbl_01k9zv3h5q8m2n4p6r7s8t9vwx'], description: 'Stays when the folder is renamed.' }),
    accountId: Type.String(),
    name: Type.String({ description: 'As people read it; the whole path for imap.' }),
    displayName: Type.String(),
    color: nullable(Type.String()),
    providerId: Type.String({ description: "The provider's own id; paths and filters accept it too." }),
    type: Type.Enum(['system', 'user']),
    role: nullable(Type.String({ description: 'inbox, sent, drafts, trash, junk, archive, all or flagged.' })),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'Label' },
)

export interface LabelRoutesDeps {
  db: Db
  accounts: Pick<Accounts, 'resolve'>
}

export function labelRoutes(app: App, { db, accounts }: LabelRoutesDeps): void {
  app.get(
    '/accounts/:accountId/labels',
    {
      config: { access: 'key:read' },
      schema: {
        tags: ['Labels'],
        summary: 'List the labels or folders of an account',
        description: 'As the last look at the mailbox found them, by name.',
        params: Type.Object({ accountId: Type.String({ description: 'An account id, or its customUserId.' }) }),
        querystring: Type.Object({
          ...pageQuery,
          includeSystem: Type.Optional(
            Type.Boolean({
              default: false,
              description: 'True: also those the provider manages, such as INBOX and Sent.',
            }),
          ),
        }),
        response: { 200: listOf('labels', labelSchema) },
      },
    },
    async (request) => {
      const { id } = await accounts.resolve(db.read, request.params.accountId)
      const { includeSystem = false } = request.query
      const rows = (await labelStore(db.read).all(id)).filter(
        (row) => row.selectable === 1 && (includeSystem || row.type === 'user'),
      )
      const { items, pagination } = pageOfAll(rows, request.query, ['labels', id, includeSystem], (row) => row.id)
      return { labels: items.map(labelView), pagination }
    },
  )
}

function labelView(row: LabelRow): Static<typeof labelSchema> {
  const { id, accountId, name, displayName, color, providerId, type, role, createdAt, updatedAt } = row
  return {
    ...{ id, accountId, name, displayName, color, providerId, type, role },
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  }
}
