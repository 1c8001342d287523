import { type OutboundDeps, outbound } from '../../src/platform/outbound/index.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import type { IdMailboxFixture } from '../../src/providers/conformance/id-mailbox-fixture.ts'
import type { MailAccess, SendProvider } from '../../src/providers/contract/index.ts'
import { type MicrosoftDeps, microsoftLogin, microsoftProvider } from '../../src/providers/microsoft/index.ts'
import { openGuard } from './imap-mailbox.ts'
import { type Microsoft, startMicrosoft } from './microsoft.ts'
import { microsoftTenantAccess, type OpenedAccess, TENANT, type TokenOwner } from './opened-access.ts'

const USER = 'ada@example.test'
/** Before a request is sent again. */
const SOON = { baseMs: 5, capMs: 20 }

/** The provider for a Graph at this address. */
export function microsoftAt(graphUrl: string, more: Partial<MicrosoftDeps> = {}) {
  return microsoftProvider({
    graphUrl,
    loginUrl: graphUrl,
    clock: systemClock,
    outbound: outbound({ guard: openGuard }),
    retry: SOON,
    ...more,
  })
}

type MicrosoftMailbox = IdMailboxFixture & { archive: string; graph: Microsoft; user: string; sending: SendProvider }

/** A mailbox at the fake Graph, used through the provider. Refreshes its token like the service. */
export async function microsoftMailbox(
  uploads: Partial<OutboundDeps> = {},
  owner: TokenOwner = 'user',
): Promise<MicrosoftMailbox> {
  const graph = await startMicrosoft()
  graph.addUser(USER, owner === 'tenant' ? { tenant: TENANT } : {})
  // Graph's times are whole seconds: each message gets its own second, in the past.
  let arrivedMs = Date.now() - 3_600_000
  const client = outbound({ guard: openGuard, ...uploads })
  const { mail, sending, tenant } = microsoftProvider({
    graphUrl: graph.url,
    loginUrl: graph.url,
    clock: systemClock,
    outbound: client,
    retry: SOON,
  })
  const opened = owner === 'tenant' ? microsoftTenantAccess(graph, USER, tenant) : await signedIn(graph)
  return {
    graph,
    user: USER,
    mail,
    sending,
    access: opened.access,
    inbox: graph.folderId(USER, 'inbox'),
    trash: graph.folderId(USER, 'deleteditems'),
    archive: graph.folderId(USER, 'archive'),
    deliver(raw) {
      arrivedMs += 1000
      return graph.deliver(USER, raw, { date: new Date(arrivedMs) })
    },
    setRead: async (id, read) => graph.markRead(USER, id, read),
    setStarred: async (id, starred) => graph.star(USER, id, starred),
    move: async (id, folder) => graph.move(USER, id, folder),
    remove: async (id) => graph.delete(USER, id),
    createFolder: async (name) => graph.createFolder(USER, name),
    contents: async () =>
      graph
        .messages(USER)
        .map(({ id, folderId, read, starred }) => ({ id, unread: !read, starred, folders: [folderId] })),
    expireCursors: async () => graph.expireDelta(USER),
    fail(how, { times, retryAfterS } = {}) {
      const as = how === 'rate_limited' ? 'rate-limited' : how
      graph.fail({
        as,
        on: /\/v1\.0\//,
        ...(times !== undefined && { times }),
        ...(retryAfterS !== undefined && { retryAfter: retryAfterS }),
      })
    },
    heal: () => graph.faults.clear(),
    expireTokens: opened.expireTokens,
    revoke: async () => opened.revoke(),
    async stop() {
      await client.close()
      await graph.close()
    },
  }
}

/** Refreshes the token as the service does, each time with the latest refresh token. */
async function signedIn(graph: Microsoft): Promise<OpenedAccess> {
  const login = microsoftLogin({
    clientId: graph.client.id,
    clientSecret: graph.client.secret,
    tenant: 'common',
    loginUrl: graph.url,
    graphUrl: graph.url,
    clock: systemClock,
  })
  let { accessToken, refreshToken } = await graph.grant(USER)
  const access: MailAccess = {
    accountId: 'acc_1',
    email: USER,
    settings: {},
    secrets: {},
    async accessToken(refused) {
      if (refused === accessToken) {
        const tokens = await login.refresh(refreshToken)
        accessToken = tokens.accessToken
        refreshToken = tokens.refreshToken ?? refreshToken
      }
      return accessToken
    },
  }
  return {
    access,
    expireTokens: () => graph.expireAccessTokens(USER),
    revoke: () => graph.revokeGrants(USER),
  }
}
