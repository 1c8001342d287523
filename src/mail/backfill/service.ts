import type { Accounts } from '../../accounts/index.ts'
import type { EventOf, Recorder } from '../../events/index.ts'
import type { Db, Handle, Tx } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Page } from '../../platform/formats/pagination.ts'
import type { Queue } from '../../platform/queue/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { ProviderName } from '../../providers/contract/index.ts'
import type { SyncPositions } from '../sync/index.ts'
import { type BackfillQuery, type BackfillView, backfillView, idleView } from './api.ts'
import { readConfig } from './config.ts'
import type { backfillEvents } from './events.ts'
import { type BackfillRow, backfillFolderStore, backfillStore } from './store.ts'

export const BACKFILL_ACTIONS = ['start', 'pause', 'resume', 'restart', 'cancel'] as const
export type BackfillAction = (typeof BACKFILL_ACTIONS)[number]

export interface BackfillServiceDeps {
  db: Db
  queue: Queue
  clock: Clock
  events: Recorder
  accounts: Pick<Accounts, 'resolve' | 'hold' | 'requestSync' | 'get'>
  positions: SyncPositions
}

export const QUEUE = 'backfill'
const DAY_MS = 24 * 60 * 60 * 1000

/** The backfills of all accounts. Every change is one transaction that holds the account, and increments the row's version. */
export function backfillService({ db, queue, clock, events, accounts, positions }: BackfillServiceDeps) {
  async function begin(tx: Tx, account: Ref, before: BackfillRow | undefined): Promise<BackfillRow> {
    const nowMs = clock.now()
    const { timeRangeDays } = await readConfig(tx)
    if (before !== undefined) await handOver(tx, account.accountId)
    await backfillFolderStore(tx).removeAll(account.accountId)
    const row: BackfillRow = {
      accountId: account.accountId,
      status: 'running',
      version: (before?.version ?? 0) + 1,
      sinceMs: nowMs - timeRangeDays * DAY_MS,
      processed: 0,
      total: null,
      oldestReached: null,
      samples: JSON.stringify([[nowMs, 0]]),
      attempts: 0,
      losses: 0,
      nextBatchAt: nowMs,
      pausedBy: null,
      lastError: null,
      announcedAt: nowMs,
      announcedProcessed: 0,
      startedAt: nowMs,
      updatedAt: nowMs,
    }
    await backfillStore(tx).save(row)
    await announce(tx, 'sync.backfill_started', account.provider, row)
    await queue.addIn(tx, QUEUE, [account.accountId])
    return row
  }

  async function change(tx: Tx, row: BackfillRow, changes: Partial<BackfillRow>): Promise<BackfillRow> {
    const changed = { ...changes, updatedAt: clock.now() }
    await backfillStore(tx).update(row, changed)
    return { ...row, ...changed, version: row.version + 1 }
  }

  async function stop(tx: Tx, row: BackfillRow, changes: Partial<BackfillRow>): Promise<BackfillRow> {
    await handOver(tx, row.accountId)
    return change(tx, row, changes)
  }

  async function proceed(tx: Tx, row: BackfillRow): Promise<BackfillRow> {
    await queue.addIn(tx, QUEUE, [row.accountId])
    return change(tx, row, {
      status: 'running',
      pausedBy: null,
      attempts: 0,
      nextBatchAt: clock.now(),
      lastError: null,
    })
  }

  /** Makes sync compare what backfill has stored in IMAP folders, and keep it in sync from then on. */
  async function handOver(tx: Tx, accountId: string): Promise<void> {
    const folders = backfillFolderStore(tx)
    let isNeeded = false
    for (const { scopeId, lowUid } of (await folders.all(accountId)).values()) {
      if (lowUid === null) continue
      await positions.compareFrom(tx, accountId, scopeId, lowUid)
      await folders.save(accountId, scopeId, { lowUid: null }, clock.now())
      isNeeded = true
    }
    if (isNeeded) await accounts.requestSync(tx, [accountId], 'everything')
  }

  async function announce(tx: Tx, type: EventType, provider: ProviderName, row: BackfillRow): Promise<void> {
    const { accountId, version } = row
    const event: EventOf<typeof backfillEvents> = {
      type,
      accountId,
      provider,
      objectId: accountId,
      version,
      data: backfillView(row),
    }
    await events.record(tx, [event])
  }

  const actions: Record<BackfillAction, (tx: Tx, account: Ref, row: BackfillRow | undefined) => Promise<BackfillRow>> =
    {
      async start(tx, account, row) {
        if (row?.status === 'running' || row?.status === 'completed') return row
        ensureActive(account)
        return row?.status === 'paused' ? proceed(tx, row) : begin(tx, account, row)
      },
      async pause(tx, _account, row) {
        if (row?.status === 'paused') return row.pausedBy === 'user' ? row : change(tx, row, { pausedBy: 'user' })
        if (row?.status !== 'running') throw cannot('paused', row)
        return stop(tx, row, { status: 'paused', pausedBy: 'user' })
      },
      async resume(tx, account, row) {
        if (row?.status === 'running') return row
        if (row?.status !== 'paused' && row?.status !== 'failed') throw cannot('resumed', row)
        ensureActive(account)
        return proceed(tx, row)
      },
      async restart(tx, account, row) {
        ensureActive(account)
        return begin(tx, account, row)
      },
      async cancel(tx, _account, row) {
        if (row?.status === 'cancelled') return row
        if (row === undefined || row.status === 'completed') throw cannot('cancelled', row)
        return stop(tx, row, { status: 'cancelled', pausedBy: null })
      },
    }

  return {
    change,
    stop,
    proceed,
    announce,

    async find(handle: Handle, idOrAlias: string): Promise<BackfillView> {
      const { id } = await accounts.resolve(handle, idOrAlias)
      const row = await backfillStore(handle).find(id)
      return row === undefined ? idleView(id) : backfillView(row)
    },

    async list(query: BackfillQuery): Promise<Page<BackfillView>> {
      const { items, pagination } = await backfillStore(db.read).list(query)
      return { items: items.map(backfillView), pagination }
    },

    /** The account is read before the transaction, which holds it. Throws not_found, and conflict when the state does not allow it. */
    async prepare(action: BackfillAction, idOrAlias: string): Promise<(tx: Tx) => Promise<BackfillView>> {
      const { id: accountId, provider } = await accounts.resolve(db.read, idOrAlias)
      const { paused: isPaused } = await accounts.get(accountId)
      return async (tx) => {
        await accounts.hold(tx, accountId)
        const row = await backfillStore(tx).find(accountId)
        return backfillView(await actions[action](tx, { accountId, provider, isPaused }, row))
      }
    },
  }
}

export type BackfillService = ReturnType<typeof backfillService>

type EventType = keyof typeof backfillEvents & string

interface Ref {
  accountId: string
  provider: ProviderName
  isPaused: boolean
}

function ensureActive({ isPaused }: Ref): void {
  if (isPaused) throw conflict('The account is paused. Resume the account first.')
}

function cannot(participle: string, row: BackfillRow | undefined): AppError {
  const state = row === undefined ? 'has not started' : `is ${row.status}`
  return conflict(`The historical sync of this account ${state}, so it cannot be ${participle}.`)
}

function conflict(message: string): AppError {
  return new AppError('conflict', { message })
}
