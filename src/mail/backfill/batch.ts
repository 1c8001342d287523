import {
  type Account,
  type Accounts,
  findApiChanges,
  type LiveMailboxDeps,
  openMailbox,
  StaleRead,
} from '../../accounts/index.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import {
  BACKFILL_READ,
  ENTIRE_MAILBOX,
  type FolderMailProvider,
  type IdMailProvider,
  type MailAccess,
  ProviderError,
} from '../../providers/contract/index.ts'
import { labelStore } from '../labels/index.ts'
import { ingest, locatedMessages, mailHorizons, messageStore } from '../messages/index.ts'
import type { SyncPositions } from '../sync/index.ts'
import type { Scope } from './folders.ts'
import type { BackfillFolderRow, BackfillRow } from './store.ts'

export interface BatchDeps extends LiveMailboxDeps {
  db: Db
  clock: Clock
  accounts: LiveMailboxDeps['accounts'] & Pick<Accounts, 'hold' | 'requestSync'>
  positions: SyncPositions
  stored: Omit<Parameters<typeof ingest.olderFolder>[1], 'db'>
}

/** The result of one read, to be stored in one transaction. */
export interface Read {
  /** Returns how many messages entered the lists. Throws `StaleRead`. */
  store(tx: Tx): Promise<number>
  /** Messages that were stored already. */
  passed: number
  /** When the oldest message of the read was received. */
  oldest: number | null
  folder: Partial<BackfillFolderRow>
  /** The new `storedSince` of the folder. */
  reachedMs: number
}

/** How many messages of a folder are in the range; null when that is unknown. */
export async function countFolder(
  deps: BatchDeps,
  account: Account,
  { sinceMs }: BackfillRow,
  { label, position, storedSince }: Scope,
  signal: AbortSignal,
): Promise<number | null> {
  const { mail, access } = await openMailbox(deps, account.id, 'mail.read')
  if (mail.kind === 'folders') {
    return mail.backfill(access).count({ path: label?.providerId ?? '', cursor: position.cursor, sinceMs, signal })
  }
  if (storedSince <= sinceMs) return 0
  const scope = label?.providerId ?? ENTIRE_MAILBOX
  return mail.backfill(access).count({ scope, sinceMs, beforeMs: storedSince, signal })
}

export async function readFolder(
  deps: BatchDeps,
  account: Account,
  row: BackfillRow,
  scope: Scope,
  limit: number,
  signal: AbortSignal,
): Promise<Read> {
  const { mail, access } = await openMailbox(deps, account.id, 'mail.read')
  const { sinceMs, attempts, losses } = row
  const request = { deps, account, scope, signal, sinceMs, attempts, losses, limit: Math.min(limit, BACKFILL_READ) }
  return mail.kind === 'folders' ? readUids(request, mail, access) : readIds(request, mail, access)
}

interface ReadRequest {
  deps: BatchDeps
  account: Account
  scope: Scope
  sinceMs: number
  /** How often in a row reads have failed. */
  attempts: number
  /** How many of them a message may have ended. */
  losses: number
  limit: number
  signal: AbortSignal
}

async function readUids(request: ReadRequest, mail: FolderMailProvider, access: MailAccess): Promise<Read> {
  const { deps, account, scope, sinceMs, attempts, losses, limit, signal } = request
  const { db, positions } = deps
  const { scopeId, label, row } = scope
  const { cursor, uidValidity } = scope.position
  if (label === undefined) throw new Error(`The folder ${scopeId} has no label.`)
  const folder = { accountId: account.id, labelId: label.id }
  const apiChanges = await findApiChanges(db.read, account.id)
  const {
    messages: found,
    position,
    ...page
  } = await mail.backfill(access).read({
    path: label.providerId,
    cursor,
    position: row?.checkpoint ?? null,
    sinceMs,
    limit,
    signal,
    findStored: (uids) => locatedMessages(db.read).listedUids(label.id, uidValidity ?? '', uids),
    losses,
    failing: await positions.failing(db, account.id, label.id),
    control: async () => (await locatedMessages(db.read).newestUids(label.id, uidValidity ?? '', 1))[0]?.uid ?? null,
    suspect: (message) =>
      db.transaction(async (tx) => {
        await deps.accounts.hold(tx, account.id)
        await positions.suspect(tx, folder, message, deps.clock.now())
      }),
  })
  const messages = found.filter(({ unreadable }) => unreadable === undefined)
  const unreadable = found.filter((message) => message.unreadable !== undefined)
  const uids = found.flatMap(({ location }) => location?.uid ?? [])
  const lowUid = Math.min(...uids, row?.lowUid ?? Number.POSITIVE_INFINITY)
  const isDone = position === null
  const mustCompare = Number.isFinite(lowUid)
  return {
    async store(tx) {
      // Sync may have found a new UIDVALIDITY meanwhile, or that the folder was deleted.
      const now = await positions.find(tx, account.id, scopeId)
      const isPresent = (await labelStore(tx).byIds([scopeId])).has(scopeId)
      const isSame = now?.uidValidity === page.uidValidity || now?.uidValidity === null
      if (!isPresent || !isSame) throw new ProviderError('cursor_expired', 'the folder has changed meanwhile')
      const into = { accountId: account.id, provider: account.provider, apiChanges, label }
      const read = attempts + losses > 0 ? messages : []
      await positions.readUidsAgain(tx, folder, { failed: unreadable, read }, deps.clock.now())
      const added = await ingest.olderFolder(tx, { ...deps.stored, db }, into, messages)
      if (isDone && mustCompare) {
        await positions.compareFrom(tx, account.id, scopeId, lowUid)
        await deps.accounts.requestSync(tx, [account.id], 'everything')
      }
      return added
    },
    passed: page.passed,
    oldest: oldestReceivedAt(messages),
    folder: { checkpoint: position, isDone: Number(isDone), lowUid: mustCompare && !isDone ? lowUid : null },
    reachedMs: page.reachedMs,
  }
}

async function readIds(request: ReadRequest, mail: IdMailProvider, access: MailAccess): Promise<Read> {
  const { deps, account, scope, sinceMs, limit, signal } = request
  const { db, positions } = deps
  const { scopeId, label, position, row, storedSince } = scope
  const beforeMs = row?.checkpoint == null ? storedSince : Number(row.checkpoint)
  if (beforeMs <= sinceMs) return { ...NOTHING, reachedMs: storedSince }
  const apiChanges = await findApiChanges(db.read, account.id)
  const page = await mail.backfill(access).read({
    scope: label?.providerId ?? ENTIRE_MAILBOX,
    sinceMs,
    beforeMs,
    limit,
    signal,
    findStored: (ids) => messageStore(db.read).listedTimes(account.id, ids),
    control: positions.control(db, account.id),
  })
  const found = page.found.filter(({ message }) => message.receivedAt >= sinceMs)
  const reachedMs = page.nextMs ?? sinceMs
  return {
    async store(tx) {
      // Sync ignores changes of messages that are not stored: it may have done so with these.
      const now = await positions.find(tx, account.id, scopeId)
      if (now?.parts !== position.parts) throw new StaleRead()
      const labels = new Map((await labelStore(tx).all(account.id)).map((label) => [label.providerId, label]))
      const into = { accountId: account.id, apiChanges, provider: account.provider, labels }
      await positions.readAgain(
        tx,
        { accountId: account.id, labelId: label?.id ?? null },
        page.failed ?? [],
        deps.clock.now(),
      )
      return ingest.olderMailbox(tx, { ...deps.stored, db }, into, found)
    },
    passed: page.passed,
    oldest: oldestReceivedAt(found.map(({ message }) => message)),
    folder: { checkpoint: String(reachedMs), isDone: Number(page.nextMs === null) },
    reachedMs,
  }
}

const NOTHING: Omit<Read, 'reachedMs'> = {
  store: async () => 0,
  passed: 0,
  oldest: null,
  folder: { isDone: 1 },
}

function oldestReceivedAt(messages: readonly { receivedAt: number }[]): number | null {
  return messages.length === 0 ? null : Math.min(...messages.map(({ receivedAt }) => receivedAt))
}

/** Moves `storedSince` back, never forward. */
export async function moveHorizon(tx: Tx, accountId: string, { scopeId }: Scope, reachedMs: number): Promise<void> {
  const storedSince = (await mailHorizons(tx).all(accountId)).get(scopeId)
  if (storedSince !== undefined && reachedMs < storedSince) {
    await mailHorizons(tx).save({ accountId, scopeId, storedSince: reachedMs })
  }
}
