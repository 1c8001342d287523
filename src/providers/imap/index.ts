/**
 * Mailboxes over IMAP: verify, the standing session that sync works through, and live reads for API requests.
 * Nothing of imapflow leaves this folder; failures leave it as `ProviderError` only. Knows no database and no routes.
 */
import type { AddressGuard } from '../../infra/net/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { FolderMailProvider, MailAccess, Provider } from '../contract/index.ts'
import { cautions } from './caution.ts'
import { dial } from './client.ts'
import { FLOOD_ALLOWANCE, type FloodAllowance } from './flood.ts'
import { Lane } from './lane.ts'
import { imapLiveReads } from './live-reads.ts'
import { pacing } from './pacing.ts'
import { ImapSession } from './session.ts'
import { verify } from './verify.ts'

/** Every limit of the provider; tests make them small. */
export interface ImapLimits {
  verifyMs: number
  connectMs: number
  /** A connection on which nothing is heard for so long while an answer is due is given up. */
  silenceMs: number
  /** The standing connection is asked for a sign of life after so long without work, and has `answerMs` for it. */
  checkEveryMs: number
  answerMs: number
  /** How often a server without IDLE is asked for news. */
  pollEveryMs: number
  requestIdleMs: number
  requestWaitMs: number
  /** Messages of one step of `syncFolder`. */
  stepMessages: number
  /** What a server may say on the standing connection while nothing was asked. */
  flood: FloodAllowance
}

const LIMITS: ImapLimits = {
  verifyMs: 10_000,
  connectMs: 30_000,
  silenceMs: 30_000,
  checkEveryMs: 45_000,
  answerMs: 12_000,
  pollEveryMs: 30_000,
  requestIdleMs: 30_000,
  requestWaitMs: 10_000,
  stepMessages: 500,
  flood: FLOOD_ALLOWANCE,
}

export interface ImapDeps {
  guard: AddressGuard
  clock: Clock
  limits?: Partial<ImapLimits>
  /** Logins under way at one host, and how far the starts of a crowd are spread. */
  pace?: { concurrent: number; jitterMs: number }
}

/** One for the whole process: it holds the pacing per host and the operations connection of each account. */
export function imapProvider({
  guard,
  clock,
  limits: given,
  pace = { concurrent: 16, jitterMs: 250 },
}: ImapDeps): Provider & { mail: FolderMailProvider } {
  const limits = { ...LIMITS, ...given }
  const dialling = { guard, pacing: pacing(pace) }
  const known = cautions()
  const lanes = new Map<string, { lane: Lane; access: MailAccess }>()

  function laneOf(access: MailAccess): Lane {
    const open = lanes.get(access.accountId)
    if (open !== undefined && !open.lane.isClosed && reachesSame(open.access, access)) return open.lane
    open?.lane.close()
    const options = { idleMs: limits.requestIdleMs, waitMs: limits.requestWaitMs, silenceMs: limits.silenceMs }
    // The password goes with the lane: nothing of an account is kept when nobody works on it.
    const lane = new Lane(access, dialling, options, () => {
      if (lanes.get(access.accountId)?.lane === lane) lanes.delete(access.accountId)
    })
    lanes.set(access.accountId, { lane, access })
    return lane
  }

  return {
    name: 'imap',
    mail: {
      kind: 'folders',
      verify: (access, signal) => verify(access, dialling, limits.verifyMs, signal),
      async openSession(access, events, signal) {
        const options = { urgent: false, timeoutMs: limits.connectMs, signal }
        const client = await dial(access, dialling, options)
        const home = access.settings.imap?.mailbox ?? 'INBOX'
        const { accountId } = access
        const deps = { accountId, lane: () => laneOf(access), cautions: known, clock, options: limits }
        return new ImapSession(client, home, events, deps)
      },
      liveReads: (access) => imapLiveReads(() => laneOf(access), clock),
      async closeConnections(accountId) {
        for (const [id, { lane }] of [...lanes]) {
          if (accountId !== undefined && id !== accountId) continue
          lane.close()
          lanes.delete(id)
        }
      },
    },
  }
}

function reachesSame(left: MailAccess, right: MailAccess): boolean {
  return (
    left.secrets.password === right.secrets.password &&
    JSON.stringify(left.settings.imap) === JSON.stringify(right.settings.imap)
  )
}
