import type { Account } from '../../accounts/index.ts'
import type { Tx } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Log } from '../../platform/log/index.ts'
import { labelStore } from '../labels/index.ts'
import { type BatchDeps, countFolder, moveHorizon, type Read, readFolder } from './batch.ts'
import type { BackfillConfig } from './config.ts'
import { judgeFailure } from './failures.ts'
import { openScopes, type Scope, type Scopes } from './folders.ts'
import { type RateSample, withSample } from './rate.ts'
import type { BackfillService } from './service.ts'
import { type BackfillFolderRow, type BackfillRow, backfillFolderStore, backfillStore } from './store.ts'

export interface StepDeps extends BatchDeps {
  log: Log
  service: BackfillService
}

/** For a first sync that is not complete, and after sync has read the folder again. */
const WAIT_MS = 5000
/** A folder that sync cannot read is left out after this time. */
const PATIENCE_MS = 10 * 60_000
/** A progress event follows when so much time has passed and so much of the total was processed, or after the longer time. */
const ANNOUNCE = { minMs: 10_000, share: 0.05, maxMs: 60_000 }

type Outcome = 'continue' | 'end'

interface Step {
  config: BackfillConfig
  /** Messages left in this batch. */
  limit: number
  signal: AbortSignal
}

/**
 * One step of a backfill: counts a folder, or reads a part of one and stores it, or ends the backfill. Returns how many messages were
 * read.
 */
export async function runStep(
  deps: StepDeps,
  account: Account,
  row: BackfillRow,
  { config, limit, signal }: Step,
): Promise<number | 'end'> {
  if (account.paused)
    return end(deps, row, (tx) => deps.service.stop(tx, row, { status: 'paused', pausedBy: 'account' }))
  const scopes = await openScopes(deps.db, deps.positions, account)
  const uncounted = scopes.ready.find((scope) => scope.row?.isCounted !== 1)
  const scope = uncounted ?? scopes.ready[0]
  if (scope === undefined) return (await finish(deps, account, row, scopes)) === 'end' ? 'end' : 0
  try {
    if (uncounted !== undefined) {
      await count(deps, account, row, scopes, uncounted, signal)
      return 0
    }
    return await readAndStore(deps, account, row, scope, { config, limit, signal })
  } catch (error) {
    if (signal.aborted) return 0
    return (await failed(deps, account, row, scope, error)) === 'end' ? 'end' : 0
  }
}

async function count(
  deps: StepDeps,
  account: Account,
  row: BackfillRow,
  scopes: Scopes,
  scope: Scope,
  signal: AbortSignal,
) {
  const total = await countFolder(deps, account, row, scope, signal)
  await deps.db.transaction(async (tx) => {
    await deps.accounts.hold(tx, account.id)
    await backfillFolderStore(tx).save(account.id, scope.scopeId, { total, isCounted: 1 }, deps.clock.now())
    const others = scopes.ready.filter(({ scopeId, row: other }) => scopeId !== scope.scopeId && other?.isCounted !== 1)
    const all = [...(await backfillFolderStore(tx).all(account.id)).values()].map((folder) => folder.total)
    const isKnown = others.length + scopes.waiting.length === 0 && all.every((total) => total !== null)
    const sum = all.reduce<number>((so, total) => so + (total ?? 0), 0)
    await update(deps, tx, row, { total: isKnown ? sum : row.total })
  })
}

async function readAndStore(
  deps: StepDeps,
  account: Account,
  row: BackfillRow,
  scope: Scope,
  { config, limit, signal }: Step,
) {
  const read = await readFolder(deps, account, row, scope, limit, signal)
  let processed = 0
  await deps.db.transaction(
    async (tx) => {
      await deps.accounts.hold(tx, account.id)
      processed = (await read.store(tx)) + read.passed
      const nowMs = deps.clock.now()
      await backfillFolderStore(tx).save(account.id, scope.scopeId, read.folder, nowMs)
      await moveHorizon(tx, account.id, scope, read.reachedMs)
      const delayMs = processed >= limit ? config.delayBetweenBatches : 0
      const changes = progress(row, processed, read, nowMs)
      const after = { ...row, ...changes, nextBatchAt: nowMs + delayMs, attempts: 0, losses: 0, lastError: null }
      const isDue = isAnnounced(row, after, nowMs)
      if (isDue) Object.assign(after, { announcedAt: nowMs, announcedProcessed: after.processed })
      const { accountId: _, version: __, ...columns } = after
      await update(deps, tx, row, columns)
      if (isDue)
        await deps.service.announce(tx, 'sync.backfill_progress', account.provider, {
          ...after,
          version: row.version + 1,
        })
    },
    { bulk: true },
  )
  return processed
}

/** Every folder is complete, or waits for sync. */
async function finish(deps: StepDeps, account: Account, row: BackfillRow, { waiting }: Scopes): Promise<Outcome> {
  const nowMs = deps.clock.now()
  const patient = waiting.filter(({ row: folder }) => folder === undefined || nowMs - folder.createdAt < PATIENCE_MS)
  if (patient.length > 0) {
    await writeUnchanged(deps, row, async (tx) => {
      const folders = backfillFolderStore(tx)
      for (const { scopeId, row: folder } of patient) if (!folder) await folders.save(account.id, scopeId, {}, nowMs)
      await update(deps, tx, row, { nextBatchAt: nowMs + WAIT_MS })
    })
    return 'continue'
  }
  return end(deps, row, async (tx) => {
    const folders = backfillFolderStore(tx)
    for (const { scopeId } of waiting) {
      await folders.save(account.id, scopeId, { isDone: 1, error: 'sync has not read it' }, nowMs)
    }
    const all = [...(await folders.all(account.id)).values()]
    const refused = all.filter(({ error }) => error !== null)
    const lastError = refused.length === 0 ? null : await naming(tx, refused)
    const isFailed = refused.length > 0 && refused.length === all.length
    const status = isFailed ? 'failed' : 'completed'
    const type = isFailed ? 'sync.backfill_failed' : 'sync.backfill_completed'
    const samples = sampled(row, row.processed, nowMs)
    const total = isFailed ? row.total : row.processed
    const after = await deps.service.change(tx, row, { status, total, samples, lastError, attempts: 0 })
    await deps.service.announce(tx, type, account.provider, after)
    tx.afterCommit(() =>
      deps.log.info(`The historical sync of an account has ${status}.`, {
        accountId: account.id,
        provider: account.provider,
        operation: 'backfill.run',
        durationMs: nowMs - row.startedAt,
        metadata: { processed: row.processed, refusedFolders: refused.length },
      }),
    )
  })
}

async function failed(
  deps: StepDeps,
  account: Account,
  row: BackfillRow,
  scope: Scope,
  error: unknown,
): Promise<Outcome> {
  if (error instanceof Outdated) return 'continue'
  const nowMs = deps.clock.now()
  const about = { accountId: account.id, provider: account.provider, operation: 'backfill.read', error }
  const verdict = judgeFailure(error, row, account)
  switch (verdict.kind) {
    case 'deleted':
      return 'end'
    case 'failed':
      return end(deps, row, async (tx) => {
        const after = await deps.service.stop(tx, row, { status: 'failed', lastError: verdict.reason })
        await deps.service.announce(tx, 'sync.backfill_failed', account.provider, after)
        tx.afterCommit(() =>
          deps.log.warn('The historical sync of an account has failed.', {
            ...about,
            metadata: { reason: verdict.reason },
          }),
        )
      })
    case 'folder refused':
      deps.log.warn('Cannot read a folder for the historical sync. The other folders are read.', {
        ...about,
        metadata: { scopeId: scope.scopeId },
      })
      await writeUnchanged(deps, row, async (tx) => {
        await saveFolder(deps, tx, account.id, scope, { isDone: 1, isCounted: 1, error: verdict.reason })
        await update(deps, tx, row, {})
      })
      return 'continue'
    case 'later': {
      const { entry, delayMs, changes, restartsFolder } = verdict
      if (entry !== undefined) deps.log[entry.level](entry.message, { ...about, metadata: { delayMs } })
      await writeUnchanged(deps, row, async (tx) => {
        if (restartsFolder) await saveFolder(deps, tx, account.id, scope, { checkpoint: null, lowUid: null })
        await update(deps, tx, row, { ...changes, nextBatchAt: nowMs + delayMs })
      })
      return 'continue'
    }
  }
}

function saveFolder(
  deps: StepDeps,
  tx: Tx,
  accountId: string,
  { scopeId }: Scope,
  changes: Partial<BackfillFolderRow>,
) {
  return backfillFolderStore(tx).save(accountId, scopeId, changes, deps.clock.now())
}

/** Throws `Outdated` when the row has changed since it was read: the transaction is rolled back. */
async function update(deps: StepDeps, tx: Tx, row: BackfillRow, changes: Partial<BackfillRow>): Promise<void> {
  if (!(await backfillStore(tx).update(row, { ...changes, updatedAt: deps.clock.now() }))) throw new Outdated()
}

/** Does nothing when the row has changed meanwhile, or the account was deleted. */
export async function writeUnchanged(
  deps: StepDeps,
  row: BackfillRow,
  body: (tx: Tx) => Promise<unknown>,
): Promise<void> {
  await deps.db
    .transaction(async (tx) => {
      await deps.accounts.hold(tx, row.accountId)
      const now = await backfillStore(tx).find(row.accountId)
      if (now?.version !== row.version) throw new Outdated()
      await body(tx)
    })
    .catch((error: unknown) => {
      const isDeleted = error instanceof AppError && error.code === 'not_found'
      if (!isDeleted && !(error instanceof Outdated)) throw error
    })
}

async function end(deps: StepDeps, row: BackfillRow, body: (tx: Tx) => Promise<unknown>): Promise<'end'> {
  await writeUnchanged(deps, row, body)
  return 'end'
}

/** The row was changed meanwhile: paused, cancelled, or continued by another instance. */
class Outdated extends Error {
  override name = 'Outdated'
}

function progress(row: BackfillRow, processed: number, { oldest }: Read, nowMs: number) {
  const sum = row.processed + processed
  const oldestReached = oldest === null ? row.oldestReached : Math.min(oldest, row.oldestReached ?? oldest)
  return {
    processed: sum,
    // Counts are estimates: messages may have been deleted or moved since.
    total: row.total === null ? null : Math.max(row.total, sum),
    oldestReached,
    samples: sampled(row, sum, nowMs),
  }
}

function sampled({ samples }: BackfillRow, processed: number, nowMs: number): string {
  const before: RateSample[] = JSON.parse(samples)
  return JSON.stringify(withSample(before, [nowMs, processed]))
}

function isAnnounced({ announcedAt, announcedProcessed }: BackfillRow, after: BackfillRow, nowMs: number): boolean {
  const sinceMs = nowMs - announcedAt
  const processed = after.processed - announcedProcessed
  const isMuch = processed >= ANNOUNCE.share * (after.total ?? Number.POSITIVE_INFINITY)
  return processed > 0 && (sinceMs >= ANNOUNCE.maxMs || (sinceMs >= ANNOUNCE.minMs && isMuch))
}

const NAMED = 5

async function naming(tx: Tx, refused: readonly BackfillFolderRow[]): Promise<string> {
  const labels = await labelStore(tx).byIds(refused.map(({ scopeId }) => scopeId))
  const names = refused.slice(0, NAMED).map(({ scopeId, error }) => {
    const name = labels.get(scopeId)?.name ?? 'the mailbox'
    return `${name} (${error})`
  })
  const more = refused.length > NAMED ? ` and ${refused.length - NAMED} more` : ''
  return `Folders that could not be read: ${names.join(', ')}${more}.`
}
