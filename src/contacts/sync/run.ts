import {
  afterFailure,
  type CollectionNames,
  type FailingCollections,
  RunLog,
} from '../../accounts/collections/index.ts'
import type { Account, Accounts } from '../../accounts/index.ts'
import type { Backoff } from '../../platform/concurrency/retry.ts'
import type { Log } from '../../platform/log/index.ts'
import type { RunResult } from '../../platform/schedule/index.ts'
import { type ContactsProvider, missingFor, ProviderError, type ProviderName } from '../../providers/contract/index.ts'
import { type BookRow, bookStore } from '../store.ts'
import { syncBook } from './book.ts'
import { listBooks, listGroups } from './listing.ts'
import type { AccountBooksDeps, OwnedBooks } from './owned-books.ts'

export interface ContactTiming {
  /** How many accounts sync their contacts at once. */
  concurrency: number
  pollMs: number
  /** How often the address books of a mail server that has none are looked for. */
  searchMs: number
  retry: Backoff
}

const NAMES: CollectionNames = {
  operation: 'sync.contacts',
  collection: 'address book',
  collections: 'address books',
  item: 'A contact',
  items: 'contacts',
  collectionId: 'addressBookId',
  itemId: 'contactId',
}

/** Shared by the runs of all accounts. */
export interface RunDeps extends AccountBooksDeps {
  log: Log
  accounts: Pick<Accounts, 'getForSync' | 'access'>
  contacts(provider: ProviderName): ContactsProvider | undefined
  timing: ContactTiming
  failing: FailingCollections
}

export interface Run {
  accountId: string
  epoch: number
  /** Failing address books are read too. */
  isRetried: boolean
  signal: AbortSignal
  /** Failures in a row before this run. */
  failures: number
}

/** Syncs the address books of an account. Says when it runs again. */
export async function runAccount(deps: RunDeps, run: Run): Promise<RunResult> {
  const runLog = new RunLog(deps, NAMES, run.accountId)
  try {
    return await readAccount(deps, run, runLog)
  } catch (error) {
    return afterFailure(error, runLog, run.failures, deps.timing.retry)
  }
}

async function readAccount(deps: RunDeps, run: Run, runLog: RunLog): Promise<RunResult> {
  const { accounts, db, failing, timing, clock } = deps
  const { accountId, epoch, signal } = run
  const { account } = await accounts.getForSync(accountId)
  const provider = deps.contacts(account.provider)
  if (provider === undefined || !maySync(account)) return {}
  runLog.provider = account.provider
  const owned: OwnedBooks = {
    accountId,
    epoch,
    provider: account.provider,
    remote: provider.open(await accounts.access(accountId)),
    signal,
    onStored: (counts) => runLog.add(counts),
    onUnreadable: (book, contacts) => runLog.unreadable(book, contacts),
  }
  await listBooks(deps, owned)
  await listGroups(deps, owned)
  const books = await bookStore(db.read).all(accountId)
  const due = books.filter((book) => run.isRetried || !failing.isWaiting(book))
  for (const book of due.sort((one, other) => one.failures - other.failures)) {
    signal.throwIfAborted()
    await readBook(deps, owned, book, runLog)
  }
  runLog.succeeded()
  if (books.length === 0) return { nextRunInMs: timing.searchMs }
  const waiting = (await bookStore(db.read).all(accountId)).filter((book) => failing.isWaiting(book))
  const retries = waiting.map(({ retryAt }) => (retryAt ?? 0) - clock.now())
  return { nextRunInMs: Math.max(0, Math.min(timing.pollMs, ...retries)) }
}

/** A failing address book stops no other one, unless the account itself is refused or must wait. */
async function readBook(deps: RunDeps, owned: OwnedBooks, book: BookRow, runLog: RunLog): Promise<void> {
  const { failing } = deps
  try {
    await syncBook(deps, owned, book)
    await failing.recordSuccess(owned, book)
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind === 'rate_limited') throw error
    const isAccess = error.kind === 'auth_expired' || error.missingScope
    // An account whose credentials or scopes are refused may not list its address books either.
    if (isAccess) await listBooks(deps, owned)
    if (error.passwordRefused) throw error
    runLog.collectionFailed(book, error, await failing.recordFailure(owned, book, error))
  }
}

function maySync({ provider, paused, status, tokens, sharedWith }: Account): boolean {
  if (paused || status === 'auth_error' || sharedWith !== null) return false
  return !tokens.hasRefreshToken || missingFor(provider, tokens.scopes, ['contacts.read']).length === 0
}
