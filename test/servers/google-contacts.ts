import { systemClock } from '../../src/platform/time/clock.ts'
import type { ContactsFixture } from '../../src/providers/conformance/contacts.ts'
import type {
  ContactEdits,
  ContactFields,
  ContactsAccount,
  ContactsProvider,
  MailAccess,
} from '../../src/providers/contract/index.ts'
import { type GmailDeps, gmailProvider } from '../../src/providers/gmail/index.ts'
import type { Person } from './google/people-store.ts'
import { CONTACTS_SCOPES, type Google, startGoogle } from './google.ts'
import { googleTenantAccess, type TokenOwner, userAccess } from './opened-access.ts'

export interface GoogleContactsFixture {
  google: Google
  user: string
  /** Withdraws the consent. */
  revoke(): void
  provider: ContactsProvider
  access: MailAccess
  account: ContactsAccount
  edits: ContactEdits
  stop(): Promise<void>
}

const FAST = { rest: { retry: { baseMs: 5, capMs: 20 } } }

/** The contacts of a user at the fake Google, used through the provider. */
export async function googleContacts(
  deps: Partial<Pick<GmailDeps, 'clock' | 'outbound'>> = {},
  scopes: string[] = CONTACTS_SCOPES,
  owner: TokenOwner = 'user',
): Promise<GoogleContactsFixture> {
  const user = 'ann@gmail.test'
  const google = await startGoogle()
  google.addUser(user)
  const tokens = { tokenUrl: `${google.url}/token`, withContacts: true }
  const { contacts, mail, tenant } = gmailProvider({
    apiUrl: google.url,
    tenant: tokens,
    clock: systemClock,
    limits: FAST,
    ...deps,
  })
  const opened =
    owner === 'tenant'
      ? googleTenantAccess(google, user, tenant)
      : await userAccess(google, user, ['openid', 'email', ...scopes])
  const { access } = opened
  return {
    google,
    user,
    revoke: opened.revoke,
    provider: contacts,
    access,
    account: contacts.open(access),
    edits: contacts.edits(access),
    async stop() {
      await mail.closeConnections()
      await google.close()
    },
  }
}

/** For the conformance suite. */
export async function googleContactsFixture(owner: TokenOwner = 'user'): Promise<ContactsFixture> {
  const { google, user, provider, access, revoke, stop } = await googleContacts({}, CONTACTS_SCOPES, owner)
  return {
    provider,
    access,
    bookId: 'contacts',
    // Google makes the name that it shows of the others.
    lacks: ['displayName', 'categories'],
    stop,
    write: async (contact, contactId) => google.people.put(user, toPerson(contact), contactId),
    remove: async (contactId) => google.people.remove(user, contactId),
    setPhoto: async (contactId, jpeg) => google.people.setPhoto(user, contactId, Buffer.from(jpeg)),
    expireCursors: async () => google.people.expireSyncTokens(user),
    refuse: async () => revoke(),
  }
}

/** As another program writes a contact. */
function toPerson(contact: Partial<ContactFields>): Person {
  const { givenName, middleName, surname, nickname, birthday, companyName, jobTitle, notes } = contact
  const [year, month, day] = (birthday ?? '').split('-').map(Number)
  const fields: Person = {
    names: [{ givenName, middleName, familyName: surname }],
    nicknames: nickname ? [{ value: nickname }] : [],
    birthdays: birthday ? [{ date: { year, month, day } }] : [],
    organizations: companyName || jobTitle ? [{ name: companyName, title: jobTitle }] : [],
    biographies: notes ? [{ value: notes, contentType: 'TEXT_PLAIN' }] : [],
    emailAddresses: (contact.emails ?? []).map(({ email, type }) => ({ value: email, type })),
    phoneNumbers: (contact.phoneNumbers ?? []).map(({ number, type }) => ({ value: number, type })),
    addresses: (contact.physicalAddresses ?? []).map(({ state, ...address }) => ({ ...address, region: state })),
  }
  return fields
}
