import { type Account, type Accounts, readLive, scopeChecks } from '../../accounts/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import type { Db } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { ContactsProvider, Permission, ProviderName } from '../../providers/contract/index.ts'
import { bookStore, isIndexable, newBookRow, saveListing } from '../store.ts'
import { CONTACTS_TOPIC } from '../topic.ts'

export interface ContactAccessDeps {
  db: Db
  bus: Bus
  clock: Clock
  ids: Ids
  accounts: Pick<Accounts, 'resolve' | 'get' | 'access' | 'hold'>
  contacts(provider: ProviderName): ContactsProvider | undefined
  /** The setting `contacts.enabled`. */
  isEnabled: boolean
}

/** How long a provider may take for one request. */
export const LIVE_MS = 30_000

export interface OpenAccount {
  account: Account
  provider: ContactsProvider
}

/** Finds the contacts of an account for a request. Throws `not_found`, `consent_required`, and `not_supported` while contacts are switched off and for shared mailboxes. */
export function contactAccess(deps: ContactAccessDeps) {
  const { db, bus, clock, ids, accounts } = deps

  async function open(idOrAlias: string, permissions: readonly Permission[] = ['contacts.read']): Promise<OpenAccount> {
    const { id } = await accounts.resolve(db.read, idOrAlias)
    const account = await accounts.get(id)
    const provider = deps.contacts(account.provider)
    if (!deps.isEnabled) {
      throw new AppError('not_supported', { message: 'Contacts are switched off. Set CONTACTS_ENABLED=true.' })
    }
    if (provider === undefined) throw new AppError('not_supported')
    if (account.sharedWith !== null) {
      // It would take a scope that reads the contacts of every mailbox that others share with the user.
      throw new AppError('not_supported', { message: 'The contacts of shared mailboxes are not read.' })
    }
    await scopeChecks.require(accounts, account, permissions)
    if ((await bookStore(db.read).listedAt(id)) === undefined) await listNow({ account, provider })
    return { account, provider }
  }

  /** Before the first sync of an account. */
  async function listNow({ account, provider }: OpenAccount): Promise<void> {
    const { id: accountId } = account
    const remote = provider.open(await accounts.access(accountId))
    const listed = await readLive('The account', () => remote.listBooks(AbortSignal.timeout(LIVE_MS)))
    if (listed.length === 0) return
    await db.transaction(async (tx) => {
      await accounts.hold(tx, accountId)
      const nowMs = clock.now()
      const storedIds = new Set((await bookStore(tx).all(accountId)).map(({ providerId }) => providerId))
      const inserted = listed
        .filter(({ bookId }) => isIndexable(bookId) && !storedIds.has(bookId))
        .map((book) => newBookRow(book, { id: ids('cbk'), accountId, nowMs }))
      await saveListing(tx, accountId, nowMs, { inserted, updated: [] })
      tx.afterCommit(() => bus.publish(CONTACTS_TOPIC, accountId))
    })
  }

  return { open }
}
