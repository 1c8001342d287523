import { type Clock, systemClock } from '../../src/platform/time/clock.ts'
import type { IdMailboxFixture } from '../../src/providers/conformance/id-mailbox-fixture.ts'
import type { MailAccess, SendProvider } from '../../src/providers/contract/index.ts'
import { type GmailDeps, gmailLogin, gmailProvider } from '../../src/providers/gmail/index.ts'
import { type Google, startGoogle } from './google.ts'
import { googleTenantAccess, type OpenedAccess, type TokenOwner } from './opened-access.ts'

const USER = 'ann@gmail.test'
/** Before a request is sent again. */
const SOON = { baseMs: 5, capMs: 20 }

/** A mailbox at the fake Google, used through the provider. Refreshes its token like the service. `clock` is that of both quotas. */
export async function gmailMailbox(
  limits: GmailDeps['limits'] = {},
  clock: Clock = systemClock,
  owner: TokenOwner = 'user',
): Promise<IdMailboxFixture & { google: Google; user: string; sending: SendProvider }> {
  const google = await startGoogle({ now: clock.monotonic })
  google.addUser(USER)
  const { mail, sending, tenant } = gmailProvider({
    apiUrl: google.url,
    clock,
    tenant: { tokenUrl: `${google.url}/token` },
    limits: { rest: { retry: SOON }, ...limits },
  })
  const opened = owner === 'tenant' ? googleTenantAccess(google, USER, tenant) : await signedIn(google)
  let arrived = Date.now() - 86_400_000
  const findLabels = async (id: string) => google.messages(USER).find((message) => message.id === id)?.labels ?? []
  const isFolder = (label: string) => label !== 'UNREAD' && label !== 'STARRED'
  return {
    google,
    user: USER,
    mail,
    sending,
    inbox: 'INBOX',
    trash: 'TRASH',
    access: opened.access,
    async deliver(raw) {
      arrived += 1000
      return google.deliver(USER, raw, { date: new Date(arrived) })
    },
    setRead: (id, read) => google.markRead(USER, id, read),
    setStarred: (id, starred) => google.star(USER, id, starred),
    async move(id, folderPath) {
      const remove = (await findLabels(id)).filter((label) => isFolder(label) && label !== folderPath)
      await google.relabel(USER, id, { add: [folderPath], remove })
    },
    remove: (id) => google.delete(USER, id),
    createFolder: (name) => google.createLabel(USER, name),
    contents: async () =>
      google.messages(USER).map(({ id, labels }) => ({
        id,
        unread: labels.includes('UNREAD'),
        starred: labels.includes('STARRED'),
        folders: labels.filter((label) => label !== 'UNREAD'),
      })),
    expireCursors: async () => google.expireHistory(USER),
    fail(how, { times = 1, retryAfterS } = {}) {
      const as = how === 'rate_limited' ? 'rate-limited' : how
      google.fail({ as, times, on: /gmail/, ...(retryAfterS !== undefined && { retryAfter: retryAfterS }) })
    },
    heal: () => google.faults.clear(),
    expireTokens: opened.expireTokens,
    revoke: async () => opened.revoke(),
    stop: () => google.close(),
  }
}

/** Refreshes the token as the service does. */
async function signedIn(google: Google): Promise<OpenedAccess> {
  let { accessToken, refreshToken } = await google.grant(USER)
  const login = gmailLogin({
    clientId: google.client.id,
    clientSecret: google.client.secret,
    clock: systemClock,
    authUrl: `${google.url}/o/oauth2/v2/auth`,
    tokenUrl: `${google.url}/token`,
    userinfoUrl: `${google.url}/v1/userinfo`,
  })
  const access: MailAccess = {
    accountId: 'acc_gmail',
    email: USER,
    settings: {},
    secrets: {},
    async accessToken(refused) {
      if (refused === accessToken) ({ accessToken } = await login.refresh(refreshToken))
      return accessToken
    },
  }
  return {
    access,
    expireTokens: () => google.expireAccessTokens(USER),
    revoke: () => google.revokeGrants(USER),
  }
}
