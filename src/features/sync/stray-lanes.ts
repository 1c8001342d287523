import type { Db } from '../../infra/db/index.ts'
import type { Lanes as Queue } from '../../infra/lanes/index.ts'
import type { Log } from '../../infra/log/index.ts'
import { livingInstances } from '../accounts/index.ts'
import { SYNC_LANES, syncLane } from './deps.ts'

export interface StrayLanesDeps {
  db: Db
  queue: Queue
  log: Log
  /** Of this process. Never dropped here: whether it lives is for others to say. */
  instanceId: string
}

/** Removes the sync lanes of instances that are no more. */
export interface StrayLanes {
  /** Looks now, and again from time to time. Never rejects. */
  sweep(): Promise<void>
  stop(): Promise<void>
}

const EVERY_MS = 5 * 60_000

/**
 * An instance drops its lane when it stops, and the living drop that of one who died: unless the queue was out of reach just
 * then. Such a lane would be counted for ever.
 */
export function strayLanes({ db, queue, log, instanceId }: StrayLanesDeps): StrayLanes {
  let timer: NodeJS.Timeout | undefined
  let sweeping: Promise<void> | undefined
  let isStopped = false

  async function dropAll(): Promise<void> {
    // In this order: whoever has a lane was registered before that.
    const lanes = await queue.lanes(SYNC_LANES)
    const living = new Set([instanceId, ...(await livingInstances(db.read))].map(syncLane))
    for (const lane of lanes) {
      if (isStopped || living.has(lane)) continue
      await queue.dropLane(lane)
      log.info('The sync lane of an instance that is no more was dropped.', { ...OPERATION, metadata: { lane } })
    }
  }

  async function sweep(): Promise<void> {
    clearTimeout(timer)
    try {
      await dropAll()
    } catch (error) {
      log.debug('Sync lanes could not be looked at; the next sweep does.', { ...OPERATION, error })
    }
    if (!isStopped) timer = setTimeout(once, EVERY_MS)
  }

  function once(): Promise<void> {
    if (isStopped) return Promise.resolve()
    sweeping ??= sweep().finally(() => {
      sweeping = undefined
    })
    return sweeping
  }

  return {
    sweep: once,
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await sweeping
    },
  }
}

const OPERATION = { operation: 'sync.lanes' }
