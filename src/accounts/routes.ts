import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { Db } from '../platform/db/index.ts'
import { AppError, invalid, invalidFields } from '../platform/errors/app-error.ts'
import { type App, done, type Idempotency, listSchema } from '../platform/http/index.ts'
import type { Log } from '../platform/log/index.ts'
import type { LoginProvider, MailProvider, ProviderName } from '../providers/contract/index.ts'
import type { MailLogins } from '../providers/mail-oauth/index.ts'
import { accountParams, accountQuery, accountSchema, createBody, patchBody } from './api.ts'
import { type FurtherServers, verifyFurtherServers } from './connecting/further-servers.ts'
import { verifyImap } from './connecting/imap-check.ts'
import { parseImapConnection } from './connecting/imap-connection.ts'
import { OAUTH_SETTINGS, verifiedImport, verifiedMailImport } from './connecting/oauth-import.ts'
import { verifiedSharedAccount } from './connecting/shared-account.ts'
import type { VerificationLimit } from './connecting/verification-limit.ts'
import type { AccountChanges, Accounts, LinkAccount } from './identity/account.ts'
import { type ChoosableFolder, chooseFolders } from './identity/folder-choice.ts'
import type { OpenConnections } from './tenants/open.ts'
import { connectionRoutes } from './tenants/routes.ts'
import { verifiedTenantAccount } from './tenants/tenant-account.ts'

export interface AccountRoutesDeps {
  db: Db
  accounts: Accounts
  idempotency: Idempotency
  log: Log
  /** The mail provider. Undefined for one that cannot connect by credentials. */
  mail(provider: ProviderName): Pick<MailProvider, 'verify' | 'closeConnections'> | undefined
  /** The OAuth login. Undefined for imap, and for a provider that is not configured. */
  login(provider: ProviderName): LoginProvider | undefined
  /** Checks the servers that come with an IMAP mailbox. */
  further: FurtherServers
  verifications: VerificationLimit
  connections: OpenConnections
  /** The sign-ins of OAUTH_PROVIDERS. */
  mailLogins: MailLogins
  /** The folders that hold messages, as the last sync listed them. */
  listFolders(accountId: string): Promise<readonly ChoosableFolder[]>
}

const READ = { access: 'key:read' } as const
const WRITE = { access: 'key:write' } as const

export function accountRoutes(app: App, deps: AccountRoutesDeps): void {
  const { accounts, connections, db, idempotency } = deps
  connectionRoutes(app, { ...connections, db, connections: connections.service, idempotency })
  const resolveId = async (idOrAlias: string) => (await accounts.resolve(db.read, idOrAlias)).id
  const schema = (operationId: string, summary: string, description?: string) => ({
    tags: ['Accounts'],
    operationId,
    summary,
    ...(description && { description }),
    params: accountParams,
    response: { 200: accountSchema },
  })

  app.get(
    '/accounts',
    {
      config: READ,
      schema: {
        tags: ['Accounts'],
        operationId: 'listAccounts',
        summary: 'List accounts, newest first',
        querystring: accountQuery,
        response: { 200: listSchema('accounts', accountSchema) },
      },
    },
    async (request) => {
      const { items, pagination } = await accounts.list(request.query)
      return { accounts: items, pagination }
    },
  )

  app.post(
    '/accounts',
    {
      config: { ...WRITE, audit: { action: 'account.connected', details: connectedFacts } },
      schema: {
        tags: ['Accounts'],
        operationId: 'createAccount',
        errors: [502, 504],
        summary:
          'Connect a mailbox with its credentials, an OAuth refresh token, a connection, or the account that it is shared with',
        description:
          'Verifies the credentials by logging in. Connecting the same mailbox with the same customUserId again updates the account. For gmail and microsoft, pass a refreshToken that was issued to the OAuth client of this service; the provider identifies its user. With connectionId and email, the mailbox is opened with the tokens of that connection, without the consent of its user. With sharedWith and mailbox, it is a shared mailbox of Microsoft 365, opened with the tokens of the user of that account.',
        body: createBody,
        response: { 200: accountSchema },
      },
    },
    idempotency.writing(async (request) => {
      const input = await verifiedLink(request.body, deps).catch((error: unknown) => {
        if (error instanceof AppError && error.type === 'provider') {
          deps.log.info('Cannot verify the credentials of a new account.', {
            operation: 'accounts.create',
            provider: request.body.provider ?? 'imap',
            requestId: request.id,
            // Logged only, not returned: the refused address, the setting, and the server's response.
            error: error.cause,
            metadata: { code: error.code },
          })
        }
        throw error
      })
      return (tx) => accounts.link(tx, input)
    }),
  )

  app.get('/accounts/:accountId', { config: READ, schema: schema('getAccount', 'Get an account') }, async (request) =>
    accounts.get(await resolveId(request.params.accountId)),
  )

  app.patch(
    '/accounts/:accountId',
    {
      config: { ...WRITE, audit: { action: changeAction } },
      schema: { ...schema('updateAccount', 'Change an account'), body: patchBody },
    },
    async (request) => {
      const { id, provider } = await accounts.resolve(db.read, request.params.accountId)
      const { folders } = request.body
      const isChoice = folders !== undefined && folders !== null
      const chosen = isChoice ? chooseFolders(provider, folders, await deps.listFolders(id)) : folders
      const changes = { ...toChanges(request.body), ...(chosen !== undefined && { folders: chosen }) }
      return db.transaction(async (tx) => {
        await request.recordAudit(tx, { target: id })
        return accounts.change(tx, id, changes)
      })
    },
  )

  app.delete(
    '/accounts/:accountId',
    {
      config: { ...WRITE, audit: 'account.deleted' },
      schema: {
        ...schema(
          'deleteAccount',
          'Delete an account and all its data',
          'The account disappears at once; its data is erased in the background. One account.deleted event remains.',
        ),
        response: { 200: done },
      },
    },
    async (request) => {
      const id = await resolveId(request.params.accountId)
      await db.transaction(async (tx) => {
        await accounts.remove(tx, id)
        await request.recordAudit(tx, { target: id })
      })
      return { success: true, message: `The account ${id} was deleted.` }
    },
  )

  const setPaused = (paused: boolean, summary: string, description: string) =>
    app.post(
      `/accounts/:accountId/${paused ? 'pause' : 'resume'}`,
      {
        config: { ...WRITE, audit: paused ? 'account.paused' : 'account.resumed' },
        schema: schema(paused ? 'pauseAccount' : 'resumeAccount', summary, description),
      },
      idempotency.writing(async (request) => {
        const id = await resolveId(request.params.accountId)
        return (tx) => accounts.change(tx, id, { paused })
      }),
    )
  setPaused(
    true,
    'Pause an account',
    'The service does not sync the account or keep a connection open until it is resumed.',
  )
  setPaused(false, 'Resume a paused account', 'The next sync catches up on everything that changed meanwhile.')

  app.post(
    '/accounts/:accountId/sync',
    {
      config: WRITE,
      schema: schema(
        'syncAccount',
        'Sync an account now',
        'Returns immediately. The sync starts at once over a new connection, whatever pause the provider asked for. Tries rejected credentials once more; a paused account stays paused.',
      ),
    },
    idempotency.writing(async (request) => {
      const id = await resolveId(request.params.accountId)
      return async (tx) => {
        const account = await accounts.tryAgain(tx, id)
        await accounts.requestSync(tx, [id], 'now')
        return account
      }
    }),
  )
}

/** The account to link, after its credentials were verified at the server. */
async function verifiedLink(
  body: Static<typeof createBody>,
  {
    mail: findMail,
    login: findLogin,
    further,
    verifications,
    connections,
    accounts,
    db,
    mailLogins,
  }: Omit<AccountRoutesDeps, 'idempotency' | 'log'>,
): Promise<LinkAccount> {
  const customUserId = body.customUserId ?? null
  if (body.sharedWith) {
    const { sharedWith, mailbox, provider } = body
    if (provider !== 'microsoft') throw invalid('body.provider', 'must be microsoft for a shared mailbox')
    const request = { sharedWith, mailbox: mailbox ?? undefined, customUserId }
    return verifiedSharedAccount({ accounts, db, mail: findMail }, request)
  }
  if (body.connectionId) {
    const { connectionId, provider, email } = body
    const request = { connectionId, provider, email: email ?? undefined, customUserId }
    return verifiedTenantAccount({ ...connections, db, mail: findMail }, request)
  }
  const { provider = 'imap' } = body
  if (provider !== 'imap') {
    const refreshToken = body.refreshToken?.trim()
    if (!refreshToken) throw noCredentials()
    const login = findLogin(provider)
    if (login === undefined) throw invalid('body.provider', `is not configured; set ${OAUTH_SETTINGS[provider]}`)
    const input = { provider, refreshToken, email: body.email?.trim() || undefined, customUserId }
    return verifiedImport({ login, mail: findMail(provider) }, input)
  }
  const mail = findMail(provider)
  if (mail === undefined) throw invalid('body.provider', `${provider} is not configured`)
  if (body.oauthProvider) {
    const mailLogin = mailLogins.get(body.oauthProvider)
    if (mailLogin === undefined) throw invalid('body.oauthProvider', 'is no name in OAUTH_PROVIDERS')
    const [refreshToken, email] = [body.refreshToken?.trim(), body.email?.trim()]
    if (!refreshToken) throw invalid('body.refreshToken', 'is required')
    if (!email) throw invalid('body.email', 'is required')
    return verifiedMailImport(mailLogin, mail, { refreshToken, email, customUserId })
  }
  const { connection, errors } = parseImapConnection(body)
  if (connection === undefined) throw invalidFields(errors)
  await verifyImap({ mail, verifications, keepConnection: true }, connection)
  await verifyFurtherServers({ ...further, verifications }, connection)
  return { provider, customUserId, ...connection }
}

/** A mailbox at Google or Microsoft is connected in two ways. */
function noCredentials(): AppError {
  return invalidFields([
    { path: 'body.refreshToken', message: 'is required, unless connectionId is given' },
    { path: 'body.connectionId', message: 'is required, unless refreshToken is given' },
  ])
}

function toChanges({ paused, customUserId, watch }: Static<typeof patchBody>): AccountChanges {
  return {
    ...(paused !== undefined && { paused }),
    ...(customUserId !== undefined && { customUserId }),
    ...(watch !== undefined && { watch }),
  }
}

function changeAction({ body }: FastifyRequest): string {
  const { paused } = Object(body)
  if (paused === undefined) return 'account.updated'
  return paused ? 'account.paused' : 'account.resumed'
}

function connectedFacts({ body }: FastifyRequest) {
  const { provider = 'imap', connectionId, sharedWith } = Object(body)
  if (connectionId) return { connectionId }
  return sharedWith ? { provider, sharedWith } : { provider }
}
