import type { KeyLike } from 'node:crypto'
import { lockState, type Tx } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { rethrowProgrammingError } from '../../platform/errors/programming-errors.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { isoTime } from '../../platform/time/time.ts'
import { issuerKey, type LicenceClaims, LicenceKeyError, readLicenceKey } from './key.ts'

export interface Licence {
  readonly plan: string
  /** Null means no limit. */
  readonly accountLimit: number | null
  readonly expiresAt: number | null
  /** A problem with the key, for the operator. Undefined when there is none. Never contains the key. */
  problem(): string | undefined
  /** True when one more account may be added to this many. */
  allowsAnother(currentAccounts: number): boolean
  /**
   * Call it in the transaction that adds the account. Throws licence_limit when the limit is reached. It calls `count`
   * under a lock that lasts until the transaction ends, so two concurrent links cannot both take the last slot.
   */
  check(tx: Tx, count: () => Promise<number>): Promise<void>
}

interface LicenceDeps {
  /** SERVICE_LICENSE_KEY. */
  key: string | undefined
  clock: Clock
  /** Default: the issuer of Posthorn. */
  issuer?: KeyLike | undefined
}

const COMMUNITY: LicenceClaims = { plan: 'community', accountLimit: null, expiresAt: null }

/**
 * Verifies the licence key offline. A licence problem must never stop mail: an invalid key counts as none, an expired one
 * keeps its plan and limit, and `problem` reports either.
 */
export function licence({ key, clock, issuer = issuerKey() }: LicenceDeps): Licence {
  const { claims, error } = readOrCommunity(key, issuer)
  const { plan, accountLimit, expiresAt } = claims
  const allowsAnother = (currentAccounts: number) => accountLimit === null || currentAccounts < accountLimit
  return {
    plan,
    accountLimit,
    expiresAt,
    allowsAnother,
    problem() {
      if (error !== undefined) {
        return `SERVICE_LICENSE_KEY is ignored: ${error}. Copy the complete key, or remove the setting.`
      }
      if (expiresAt === null || clock.now() < expiresAt) return undefined
      return `The licence expired on ${isoTime(expiresAt).slice(0, 10)}. Renew it and set the new SERVICE_LICENSE_KEY.`
    },
    async check(tx, count) {
      if (accountLimit === null) return
      await lockState(tx, 'licence')
      if (!allowsAnother(await count())) throw new AppError('licence_limit')
    },
  }
}

function readOrCommunity(key: string | undefined, issuer: KeyLike): { claims: LicenceClaims; error?: string } {
  if (key === undefined || key.trim() === '') return { claims: COMMUNITY }
  try {
    return { claims: readLicenceKey(key, issuer) }
  } catch (error) {
    rethrowProgrammingError(error)
    return { claims: COMMUNITY, error: error instanceof LicenceKeyError ? error.message : 'it is not a licence key' }
  }
}
