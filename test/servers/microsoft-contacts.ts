import { outbound } from '../../src/platform/outbound/index.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import type { ContactsFixture } from '../../src/providers/conformance/contacts.ts'
import type {
  ContactEdits,
  ContactFields,
  ContactsAccount,
  ContactsProvider,
  MailAccess,
} from '../../src/providers/contract/index.ts'
import { type MicrosoftDeps, microsoftProvider } from '../../src/providers/microsoft/index.ts'
import { openGuard } from './imap-mailbox.ts'
import { type Microsoft, OUTLOOK_CONTACTS_SCOPES, startMicrosoft } from './microsoft.ts'
import { microsoftTenantAccess, TENANT, type TokenOwner, userAccess } from './opened-access.ts'

export interface MicrosoftContactsFixture {
  graph: Microsoft
  user: string
  /** Withdraws the consent. */
  revoke(): void
  /** The default folder. */
  bookId: string
  provider: ContactsProvider
  access: MailAccess
  account: ContactsAccount
  edits: ContactEdits
  stop(): Promise<void>
}

/** The contacts of a user at the fake Graph, used through the provider. */
export async function microsoftContacts(
  deps: Partial<Pick<MicrosoftDeps, 'clock'>> = {},
  scopes: string[] = OUTLOOK_CONTACTS_SCOPES,
  owner: TokenOwner = 'user',
): Promise<MicrosoftContactsFixture> {
  const user = 'ada@example.test'
  const graph = await startMicrosoft()
  graph.addUser(user, owner === 'tenant' ? { tenant: TENANT } : {})
  const { contacts, mail, tenant } = microsoftProvider({
    graphUrl: graph.url,
    loginUrl: graph.url,
    clock: systemClock,
    outbound: outbound({ guard: openGuard }),
    ...deps,
    retry: { baseMs: 5, capMs: 20 },
  })
  const opened =
    owner === 'tenant'
      ? microsoftTenantAccess(graph, user, tenant)
      : await userAccess(graph, user, ['openid', 'offline_access', 'User.Read', ...scopes])
  const { access } = opened
  return {
    graph,
    user,
    revoke: opened.revoke,
    bookId: graph.contacts.defaultFolder(user),
    provider: contacts,
    access,
    account: contacts.open(access),
    edits: contacts.edits(access),
    async stop() {
      await mail.closeConnections()
      await graph.close()
    },
  }
}

/** For the conformance suite. */
export async function microsoftContactsFixture(owner: TokenOwner = 'user'): Promise<ContactsFixture> {
  const { graph, user, bookId, provider, access, revoke, stop } = await microsoftContacts(
    {},
    OUTLOOK_CONTACTS_SCOPES,
    owner,
  )
  return {
    provider,
    access,
    bookId,
    lacks: [],
    lacksEmailTypes: true,
    stop,
    write: async (contact, id) => graph.contacts.put(user, toContact(contact), { ...(id !== undefined && { id }) }),
    remove: async (id) => graph.contacts.remove(user, id),
    setPhoto: async (id, jpeg) => graph.contacts.setPhoto(user, id, Buffer.from(jpeg)),
    expireCursors: async () => graph.contacts.expireDelta(user),
    refuse: async () => revoke(),
  }
}

/** As another program writes a contact. */
function toContact(contact: Partial<ContactFields>): Record<string, unknown> {
  const { displayName, givenName, middleName, surname, nickname, birthday, companyName, jobTitle, notes } = contact
  const work = contact.physicalAddresses?.find(({ type }) => type === 'work')
  return {
    displayName,
    givenName,
    middleName,
    surname,
    nickName: nickname,
    birthday: birthday ? `${birthday}T11:59:00Z` : null,
    companyName,
    jobTitle,
    personalNotes: notes,
    emailAddresses: (contact.emails ?? []).map(({ email }) => ({ address: email, name: email })),
    mobilePhone: contact.phoneNumbers?.find(({ type }) => type === 'mobile')?.number ?? null,
    businessAddress: work && {
      street: work.streetAddress,
      city: work.city,
      postalCode: work.postalCode,
      state: work.state,
      countryOrRegion: work.country,
    },
  }
}
