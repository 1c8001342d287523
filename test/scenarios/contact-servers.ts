import type { Features } from '../../src/app/features.ts'
import type { Config } from '../../src/config/index.ts'
import type { Db } from '../../src/platform/db/index.ts'
import { imapLink } from '../kit/accounts/accounts.ts'
import { CONTACTS_SCOPES, GOOGLE_SCOPES, startGoogle } from '../servers/google.ts'
import { MICROSOFT_SCOPES, OUTLOOK_CONTACTS_SCOPES, startMicrosoft } from '../servers/microsoft.ts'
import { startRadicale } from '../servers/radicale.ts'
import { vcard } from '../servers/vcards.ts'

/** An address book at a provider. */
export interface ServedBook {
  link(db: Db, features: Features): Promise<{ id: string }>
  /** Creates a contact, or renames the one with this id. Returns its id. */
  put(displayName: string, id?: string): Promise<string>
  remove(id: string): Promise<void>
  expireCursors(): Promise<void>
}

interface Tokens {
  accessToken: string
  refreshToken: string
}

const HOUR_MS = 60 * 60 * 1000
const PASSWORD = 'correct horse'

/** One address book of each provider: of Google and Microsoft at the fakes, and one on a Radicale. */
export async function startBooks() {
  const [google, graph, radicale] = await Promise.all([startGoogle(), startMicrosoft(), startRadicale()])
  const [gmailUser, outlookUser, imapUser] = ['ann@gmail.test', 'ada@example.test', 'lin@posthorn.test']
  google.addUser(gmailUser)
  graph.addUser(outlookUser)
  await radicale.addUser(imapUser, PASSWORD)
  const path = await radicale.makeBook(imapUser, 'people')
  const linked = (provider: 'gmail' | 'microsoft', email: string, grant: () => Promise<Tokens>, scopes: string[]) =>
    async function link(db: Db, { accounts }: Features) {
      const tokens = { ...(await grant()), expiresAt: Date.now() + HOUR_MS, scopes }
      const person = { provider, email, customUserId: null, providerUser: email, settings: {}, secrets: {}, tokens }
      return db.transaction((tx) => accounts.link(tx, person))
    }
  const googleScopes = [...GOOGLE_SCOPES, ...CONTACTS_SCOPES]
  const graphScopes = [...MICROSOFT_SCOPES, ...OUTLOOK_CONTACTS_SCOPES]
  let cards = 0
  const books: Record<string, ServedBook> = {
    gmail: {
      link: linked('gmail', gmailUser, () => google.grant(gmailUser, googleScopes), googleScopes),
      put: async (givenName, id) => google.people.put(gmailUser, { names: [{ givenName }] }, id),
      remove: async (id) => google.people.remove(gmailUser, id),
      expireCursors: async () => google.people.expireSyncTokens(gmailUser),
    },
    outlook: {
      link: linked('microsoft', outlookUser, () => graph.grant(outlookUser, graphScopes), graphScopes),
      put: async (displayName, id) => graph.contacts.put(outlookUser, { displayName }, id === undefined ? {} : { id }),
      remove: async (id) => graph.contacts.remove(outlookUser, id),
      expireCursors: async () => graph.contacts.expireDelta(outlookUser),
    },
    imap: {
      link: (db, { accounts }) =>
        db.transaction((tx) => {
          const person = imapLink({ email: imapUser, providerUser: imapUser, secrets: { password: PASSWORD } })
          const settings = { ...person.settings, caldav: { url: radicale.url, username: imapUser } }
          return accounts.link(tx, { ...person, settings })
        }),
      async put(displayName, id) {
        cards += 1
        const card = id ?? `${path}card${cards}.vcf`
        await radicale.request(imapUser, 'PUT', card, vcard(card.slice(path.length, -4), { displayName }))
        return card
      },
      remove: async (id) => void (await radicale.request(imapUser, 'DELETE', id)),
      expireCursors: () => radicale.forgetSyncTokens(path),
    },
  }
  const settings: Partial<Config> = {
    contactsEnabled: true,
    googleClientId: google.client.id,
    googleClientSecret: google.client.secret,
    googleApiUrl: google.url,
    googlePeopleUrl: google.url,
    microsoftGraphUrl: graph.url,
    microsoftClientId: graph.client.id,
    microsoftClientSecret: graph.client.secret,
  }
  return { books, settings, close: () => Promise.all([google.close(), graph.close(), radicale.stop()]) }
}
