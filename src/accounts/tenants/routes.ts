import * as Type from 'typebox'
import { type App, done, type Idempotency, pageQuery } from '../../platform/http/index.ts'
import {
  type Connection,
  type CreateConnectionBody,
  connectionList,
  connectionParams,
  connectionSchema,
  createConnectionBody,
  deleteConnectionQuery,
  directoryList,
  directoryQuery,
  type UpdateConnectionBody,
  updateConnectionBody,
} from './api.ts'
import { type DirectoryDeps, listDirectory } from './directory.ts'
import type { Connections } from './service.ts'

interface ConnectionRouteDeps extends DirectoryDeps {
  connections: Connections
  idempotency: Idempotency
}

const tags = ['Connections']
const PATH = '/connections'
const ONE = `${PATH}/:connectionId` as const
const READ = { access: 'key:read' } as const
const WRITE = { access: 'key:write' } as const

export function connectionRoutes(app: App, deps: ConnectionRouteDeps): void {
  const { connections, idempotency } = deps
  app.get(
    PATH,
    {
      config: READ,
      schema: {
        tags,
        operationId: 'listConnections',
        summary: 'List connections, newest first',
        querystring: Type.Object(pageQuery),
        response: { 200: connectionList },
      },
    },
    async ({ query }) => {
      const { items, pagination } = await connections.list(query)
      return { connections: items, pagination }
    },
  )

  app.post(
    PATH,
    {
      config: {
        ...WRITE,
        audit: { action: 'connection.created', details: ({ body }) => createdFacts(Object(body)) },
      },
      schema: {
        tags,
        operationId: 'createConnection',
        errors: [502, 504],
        summary: 'Create a connection',
        description:
          'Stores the credentials with which your application opens all mailboxes of an organisation, after it has requested a token with them. `POST /accounts` with `connectionId` then connects mailboxes by their addresses.',
        body: createConnectionBody,
        response: { 200: connectionSchema },
      },
    },
    idempotency.writing(({ body }) => connections.create(body)),
  )

  app.get(
    ONE,
    {
      config: READ,
      schema: {
        tags,
        operationId: 'getConnection',
        summary: 'Get a connection',
        params: connectionParams,
        response: { 200: connectionSchema },
      },
    },
    ({ params }): Promise<Connection> => connections.get(params.connectionId),
  )

  app.patch(
    ONE,
    {
      config: { ...WRITE, audit: { action: 'connection.updated', details: ({ body }) => changedFacts(Object(body)) } },
      schema: {
        tags,
        operationId: 'updateConnection',
        errors: [502, 504],
        summary: 'Rename a connection, or replace its secret',
        description:
          'A new secret is stored after the provider has issued a token for it. Accounts of the connection that are in `auth_error` are then tried again.',
        params: connectionParams,
        body: updateConnectionBody,
        response: { 200: connectionSchema },
      },
    },
    async (request) => {
      const { connectionId } = request.params
      const record = (tx: Parameters<typeof request.recordAudit>[0]) =>
        request.recordAudit(tx, { target: connectionId })
      return connections.update(connectionId, request.body, record)
    },
  )

  app.delete(
    ONE,
    {
      config: { ...WRITE, audit: 'connection.deleted' },
      schema: {
        tags,
        operationId: 'deleteConnection',
        summary: 'Delete a connection',
        description: 'Refused while accounts use it, unless `force` is true: then they are deleted, too.',
        params: connectionParams,
        querystring: deleteConnectionQuery,
        response: { 200: done },
      },
    },
    async (request) => {
      const { connectionId } = request.params
      const { name } = await connections.remove(connectionId, request.query.force ?? false, (tx, row) =>
        request.recordAudit(tx, { target: connectionId, details: { name: row.name } }),
      )
      return { success: true, message: `The connection "${name}" was deleted.` }
    },
  )

  app.get(
    `${ONE}/users`,
    {
      config: READ,
      schema: {
        tags,
        operationId: 'listConnectionUsers',
        errors: [409, 502, 504],
        summary: 'List the users of the organisation',
        description:
          'Read from its directory, which takes a permission of its own: for microsoft the application permission `User.Read.All`, for gmail an `adminEmail` and the scope `admin.directory.user.readonly`. Without it the response is `409 consent_required`, and mailboxes are connected by their addresses. `total` counts the users up to the end of the page while there are more.',
        params: connectionParams,
        querystring: directoryQuery,
        response: { 200: directoryList },
      },
    },
    async ({ params, query }) => {
      const { items, pagination } = await listDirectory(deps, params.connectionId, query)
      return { users: items, pagination }
    },
  )
}

function createdFacts({ provider, kind, name, tenantId, clientId, adminEmail }: Partial<CreateConnectionBody>) {
  return { provider, kind, name, tenantId, clientId, adminEmail }
}

/** Says that the secret was replaced, never by what. */
function changedFacts({ name, adminEmail, clientSecret, privateKey, serviceAccountKey }: UpdateConnectionBody) {
  return {
    ...(name !== undefined && { name }),
    ...(adminEmail !== undefined && { adminEmail }),
    isSecretReplaced: (clientSecret ?? privateKey ?? serviceAccountKey) !== undefined,
  }
}
