import { type Handle, insertRows, type Tables, type Tx } from '../../../platform/db/index.ts'
import type { CopyRef } from '../../../providers/contract/index.ts'

/** Who puts the copies of an account's messages into Sent. */
export interface Keeper {
  savedBy: 'server' | 'service'
  probe: Probe | null
}

/** A copy that the service has saved while it was not certain that the server saves none. */
export interface Probe extends CopyRef {
  savedAt: number
}

/** How long a message waits for the copy of the server, counted from when that accepted the message. */
export interface CopyWaits {
  /** While nobody knows who saves copies. */
  unknownMs: number
  /** Where the server has saved the copies so far. Providers file them within seconds, and under load within a minute. */
  serverMs: number
}

/** The copies of a message that Sent contains. */
interface FoundCopies {
  count: number
  acceptedAt: number
  /** An earlier run may have saved a copy. */
  mayBeOwn: boolean
}

/** The next step for the copy of a message: nothing, because it exists; save it; or check again then. */
type CopyStep = 'exists' | 'save' | { checkAt: number }

/** Between two checks. */
const MIN_PAUSE_MS = 500
const MAX_PAUSE_MS = 15_000
/** A server that has saved no second copy by then will not do it. */
const PROBED_MS = 60_000

export function copyStep(
  keeper: Keeper | undefined,
  { count, acceptedAt }: Pick<FoundCopies, 'count' | 'acceptedAt'>,
  waits: CopyWaits,
  nowMs: number,
): CopyStep {
  if (count > 0) return 'exists'
  const endsAt = acceptedAt + waitMs(keeper, waits)
  if (nowMs >= endsAt) return 'save'
  const pauseMs = Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, nowMs - acceptedAt))
  return { checkAt: Math.min(endsAt, nowMs + pauseMs) }
}

/** Who saves copies, as the contents of Sent show: a copy that the service cannot have saved is the server's. */
export function learnKeeper(
  keeper: Keeper | undefined,
  found: readonly FoundCopies[],
  probeCount: number,
  waits: CopyWaits,
  nowMs: number,
): Keeper | undefined {
  const isByServer = found.some(({ count, acceptedAt, mayBeOwn }) => {
    const isTooEarly = nowMs < acceptedAt + waitMs(keeper, waits)
    return count > 0 && (isTooEarly || !mayBeOwn)
  })
  if (isByServer || probeCount > 1) return { savedBy: 'server', probe: null }
  const isProbed = keeper?.probe != null && nowMs >= keeper.probe.savedAt + PROBED_MS
  return isProbed ? { savedBy: 'service', probe: null } : keeper
}

function waitMs(keeper: Keeper | undefined, { unknownMs, serverMs }: CopyWaits): number {
  if (keeper === undefined) return unknownMs
  return keeper.savedBy === 'server' ? serverMs : 0
}

type KeeperRow = Tables['outboxKeepers']
type KeeperKey = Pick<KeeperRow, 'accountId' | 'accessVersion'>

/** Undefined while it is not known, and when the account's credentials were replaced since. */
export async function findKeeper(handle: Handle, { accountId, accessVersion }: KeeperKey): Promise<Keeper | undefined> {
  const row = await handle
    .selectFrom('outboxKeepers')
    .select(['savedBy', 'probe'])
    .where('accountId', '=', accountId)
    .where('accessVersion', '=', accessVersion)
    .executeTakeFirst()
  return row && { savedBy: row.savedBy, probe: row.probe === null ? null : JSON.parse(row.probe) }
}

/** In place of what was known before. */
export async function storeKeeper(tx: Tx, key: KeeperKey, { savedBy, probe }: Keeper): Promise<void> {
  const row: KeeperRow = { ...key, savedBy, probe: probe === null ? null : JSON.stringify(probe) }
  await insertRows(
    tx,
    'outboxKeepers',
    [row],
    `on conflict ("accountId") do update set "accessVersion" = excluded."accessVersion",
      "savedBy" = excluded."savedBy", "probe" = excluded."probe"`,
  )
}
