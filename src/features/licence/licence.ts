import type { KeyLike } from 'node:crypto'
import { lockState, type Tx } from '../../infra/db/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { isoTime } from '../../lib/time.ts'
import { issuerKey, type LicenceClaims, LicenceKeyError, readLicenceKey } from './key.ts'

export interface Licence {
  readonly plan: string
  /** Null without a cap. */
  readonly accountLimit: number | null
  readonly expiresAt: number | null
  /** What the operator should know about the key; undefined when all is well. Never the key itself. */
  problem(): string | undefined
  /** May there be one more account beside these? */
  hasRoom(currentAccounts: number): boolean
  /**
   * As `hasRoom`, for the transaction that adds the account: throws `licence_limit` when there is none. `count` is asked under a
   * lock that holds until the transaction ends, so that two at once cannot both be the last.
   */
  check(tx: Tx, count: () => Promise<number>): Promise<void>
}

export interface LicenceDeps {
  /** SERVICE_LICENSE_KEY. */
  key: string | undefined
  clock: Clock
  issuer?: KeyLike
}

const COMMUNITY: LicenceClaims = { plan: 'community', accountLimit: null, expiresAt: null }

/**
 * Reads the licence key, offline. A key that is not valid counts as none and is told by `problem`: mail must flow whatever
 * the paperwork says. For the same reason an expired licence goes on as it was, its cap included.
 */
export function licence({ key, clock, issuer = issuerKey() }: LicenceDeps): Licence {
  const { claims, fault } = readOrCommunity(key, issuer)
  const { plan, accountLimit, expiresAt } = claims
  const hasRoom = (currentAccounts: number) => accountLimit === null || currentAccounts < accountLimit
  return {
    plan,
    accountLimit,
    expiresAt,
    hasRoom,
    problem() {
      if (fault !== undefined) return `SERVICE_LICENSE_KEY is ignored: ${fault}.`
      if (expiresAt === null || clock.now() < expiresAt) return undefined
      return `The licence ended on ${isoTime(expiresAt).slice(0, 10)}.`
    },
    async check(tx, count) {
      if (accountLimit === null) return
      await lockState(tx, 'licence')
      if (!hasRoom(await count())) throw new AppError('licence_limit')
    },
  }
}

function readOrCommunity(key: string | undefined, issuer: KeyLike): { claims: LicenceClaims; fault?: string } {
  if (key === undefined || key.trim() === '') return { claims: COMMUNITY }
  try {
    return { claims: readLicenceKey(key, issuer) }
  } catch (error) {
    return { claims: COMMUNITY, fault: error instanceof LicenceKeyError ? error.message : 'it is not a licence key' }
  }
}
