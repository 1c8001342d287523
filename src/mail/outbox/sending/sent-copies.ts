import type { Handle } from '../../../platform/db/index.ts'
import { cleanText, truncateText } from '../../../platform/formats/text.ts'
import { type MessageLocation, ProviderError, type SentCopies } from '../../../providers/contract/index.ts'
import { labelStore } from '../../labels/index.ts'
import { messageStore } from '../../messages/index.ts'
import { outboxStore, readContent, smallContents } from '../store.ts'
import type { OutboxRow } from '../tables.ts'
import type { CopyMailbox } from './account-sender.ts'
import { later, next, RELEASED, remainingAfterCopy } from './after-sending.ts'
import type { AttemptDeps } from './attempts.ts'
import { updateAllHeld } from './claims.ts'
import { type CopyWaits, copyStep, findKeeper, type Keeper, learnKeeper, storeKeeper } from './copy-keeper.ts'
import { idsWithoutDeferred } from './deferred.ts'

export interface CopyDeps extends AttemptDeps {
  timing: AttemptDeps['timing'] & { copyWaits: CopyWaits }
}

/** A sent message whose copy in Sent is still to be found or saved. `mayBeOwn`: an earlier run may have saved it. */
export interface Uncopied {
  row: OutboxRow
  mayBeOwn: boolean
}

/** The result for a message: complete, to be checked again, or failed. */
type Result = { row: OutboxRow } & ({ isComplete: true } | { checkAt: number } | { error: ProviderError })

/**
 * Makes sure that Sent has one copy of each message of an account, and marks what they reply to as answered. Reads Sent first, because
 * some servers save copies of what they send; `copy-keeper.ts` decides how long to wait for those. Returns the messages with a copy, and
 * those that will never have one, as they are afterwards. `isReached` is false when the mailbox cannot be reached. One transaction stores
 * all of it: after a crash, the next run finds the copies that exist. What fails is due again later, and a row that the run lost meanwhile
 * is left to whom it belongs.
 */
export async function saveCopies(
  deps: CopyDeps,
  mailbox: CopyMailbox,
  uncopied: readonly Uncopied[],
  signal: AbortSignal,
): Promise<{ done: OutboxRow[]; isReached: boolean }> {
  const [first] = uncopied
  if (first === undefined) return { done: [], isReached: true }
  const { clock, db, timing } = deps
  const key = { accountId: first.row.accountId, accessVersion: mailbox.accessVersion }
  const before = await findKeeper(db.read, key)
  const results: Result[] = []
  let keeper = before
  let failure: ProviderError | undefined
  try {
    const { messages, probeCount } = await countCopies(mailbox.copies, uncopied, before, signal)
    keeper = learnKeeper(before, messages, probeCount, timing.copyWaits, clock.now())
    for (const message of messages) {
      const { row } = message
      const step = copyStep(keeper, message, timing.copyWaits, clock.now())
      if (typeof step === 'object') {
        results.push({ row, ...step })
        continue
      }
      const error = await complete(deps, mailbox.copies, { ...message, mustSave: step === 'save' }, signal)
      results.push(error === undefined ? { row, isComplete: true } : { row, error })
      if (step === 'save' && error === undefined) keeper = keeperAfterSave(keeper, row, clock.now())
    }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    failure = error
    for (const { row } of uncopied.slice(results.length)) results.push({ row, error })
  }
  logFailures(deps, results)
  const learnt = keeper !== undefined && keeper !== before ? keeper : undefined
  const done = await db.transaction(async (tx) => {
    if (learnt !== undefined) await storeKeeper(tx, key, learnt)
    const isOver = (result: Result) => isEnded(result, clock.now())
    const after: OutboxRow[] = []
    const over = results.filter(isOver).map(({ row }) => row)
    for (const result of results) {
      // While the rows are held: the next step may release them.
      const copyError = 'error' in result ? truncateText(cleanText(result.error.message), MAX_REASON) : null
      if (copyError !== result.row.copyError) await updateAllHeld(tx, [result.row], { copyError })
    }
    for (const remaining of [null, 'draft', 'recipients'] as const) {
      const group = over.filter((row) => remainingAfterCopy(row) === remaining)
      after.push(...(await updateAllHeld(tx, group, next(remaining, clock.now()))))
    }
    for (const result of results) {
      if (isOver(result)) continue
      const changes =
        'checkAt' in result ? { dueAt: result.checkAt, ...RELEASED } : later(result.row, clock.now(), timing.retry)
      await updateAllHeld(tx, [result.row], changes)
    }
    await outboxStore(tx, db.dialect).dropContent(idsWithoutDeferred(after))
    if (results.some((result) => 'isComplete' in result)) {
      await deps.accounts.requestSync(tx, [key.accountId], 'everything')
    }
    return after
  })
  return { done, isReached: failure === undefined }
}

const MAX_REASON = 500

interface Counted extends Uncopied {
  count: number
  /** When the server accepted the message. */
  acceptedAt: number
}

async function countCopies(
  copies: SentCopies,
  uncopied: readonly Uncopied[],
  keeper: Keeper | undefined,
  signal: AbortSignal,
): Promise<{ messages: Counted[]; probeCount: number }> {
  const probe = keeper?.probe ?? null
  const refs = uncopied.map(({ row: { rfcMessageId, sentToken } }) => ({ rfcMessageId, sentToken }))
  const counts = await copies.count(probe === null ? refs : [...refs, probe], signal)
  const messages = uncopied.map((copy, index) => ({
    ...copy,
    count: counts[index] ?? 0,
    acceptedAt: copy.row.updatedAt,
  }))
  return { messages, probeCount: probe === null ? 0 : (counts[refs.length] ?? 0) }
}

/**
 * Saves the copy if there is none, and marks the original as answered. Returns the error of a message that the server refuses, which costs
 * only itself, and throws every other `ProviderError`.
 */
async function complete(
  { db, log }: CopyDeps,
  copies: SentCopies,
  { row, mayBeOwn, mustSave }: Uncopied & { mustSave: boolean },
  signal: AbortSignal,
): Promise<ProviderError | undefined> {
  const { rfcMessageId } = row
  try {
    if (mustSave) {
      const content = (await smallContents(db.read, [row])).get(row.id)
      const bytes = () => (content === undefined ? readContent(db, row) : [content])
      await copies.save({ rfcMessageId, sentAt: row.sentAt ?? row.createdAt, mayExist: mayBeOwn, bytes }, signal)
    }
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'rejected') return error
    throw error
  }
  const original = await findOriginal(db.read, row)
  if (original === undefined) return undefined
  await copies.markAnswered(original, signal).catch((error: unknown) => {
    const isRefused = error instanceof ProviderError && (error.kind === 'rejected' || error.kind === 'not_found')
    if (!isRefused) throw error
    const context = { accountId: row.accountId, operation: 'outbox.answered', error, metadata: { outboxId: row.id } }
    log.info('Cannot mark the message that was replied to as answered.', context)
  })
  return undefined
}

/** Where the message is to which the sent one replies; undefined for one that is not a reply, and while the location is unknown. */
async function findOriginal(handle: Handle, { repliedId }: OutboxRow): Promise<MessageLocation | undefined> {
  if (repliedId === null) return undefined
  const [original] = await messageStore(handle).byIds([repliedId])
  if (original === undefined || original.goneAt !== null) return undefined
  const { folderId, uidValidity, uid } = original
  if (folderId === null || uidValidity === null || uid === null) return undefined
  const folder = (await labelStore(handle).byIds([folderId])).get(folderId)
  return folder && { folderPath: folder.providerId, uidValidity, uid }
}

/** While it is not certain that the server saves none, the copy is one to check later. */
function keeperAfterSave(keeper: Keeper | undefined, row: OutboxRow, nowMs: number): Keeper {
  if (keeper?.savedBy === 'service') return keeper
  const { rfcMessageId, sentToken } = row
  return { savedBy: 'service', probe: { rfcMessageId, sentToken, savedAt: nowMs } }
}

/** A message with a copy, and one whose time is over. */
function isEnded(result: Result, nowMs: number): boolean {
  return 'isComplete' in result || ('error' in result && nowMs >= result.row.giveUpAt)
}

function logFailures({ log, clock }: CopyDeps, results: readonly Result[]): void {
  const failed = results.find((result) => 'error' in result)
  if (failed === undefined || !('error' in failed)) return
  const isLast = isEnded(failed, clock.now())
  log.warn(
    isLast
      ? 'A message was sent, but its copy could not be saved in Sent.'
      : 'A message was sent, but its copy could not be saved in Sent; the service tries again.',
    {
      accountId: failed.row.accountId,
      operation: 'outbox.copy',
      error: failed.error,
      metadata: { outboxId: failed.row.id, messages: results.filter((result) => 'error' in result).length },
    },
  )
}
