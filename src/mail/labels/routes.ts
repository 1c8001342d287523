import * as Type from 'typebox'
import type { Accounts } from '../../accounts/index.ts'
import type { Db } from '../../platform/db/index.ts'
import { pageOfAll } from '../../platform/formats/pagination.ts'
import { type App, listSchema, pageQuery } from '../../platform/http/index.ts'
import { labelSchema, labelView } from './api.ts'
import type { LabelChanger } from './edit/changer.ts'
import { labelStore } from './store.ts'

interface LabelRoutesDeps {
  db: Db
  accounts: Pick<Accounts, 'resolve'>
  changer: Pick<LabelChanger, 'ensureListed'>
}

export function labelRoutes(app: App, { db, accounts, changer }: LabelRoutesDeps): void {
  app.get(
    '/accounts/:accountId/labels',
    {
      config: { access: 'key:read' },
      schema: {
        tags: ['Labels'],
        operationId: 'listLabels',
        summary: 'List the labels or folders of an account',
        description: 'The labels found by the last sync, sorted by provider id.',
        params: Type.Object({ accountId: Type.String({ description: 'An account id, or its customUserId.' }) }),
        querystring: Type.Object({
          ...pageQuery,
          includeSystem: Type.Optional(
            Type.Boolean({
              default: false,
              description: 'True: also the labels that the provider manages, such as INBOX and Sent.',
            }),
          ),
        }),
        response: { 200: listSchema('labels', labelSchema) },
      },
    },
    async (request) => {
      const { id, provider } = await accounts.resolve(db.read, request.params.accountId)
      await changer.ensureListed(id, provider)
      const { includeSystem = false } = request.query
      const rows = (await labelStore(db.read).all(id)).filter(
        (row) => row.selectable === 1 && (includeSystem || row.type === 'user'),
      )
      const { items, pagination } = pageOfAll(
        rows,
        request.query,
        ['labels', id, includeSystem],
        (row) => row.providerId,
      )
      return { labels: items.map(labelView), pagination }
    },
  )
}
