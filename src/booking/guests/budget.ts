import { createHmac } from 'node:crypto'
import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Tx } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { MailScope } from '../tables.ts'
import { lockCounter } from './counters.ts'
import { addressKey, mailboxKey } from './guest-address.ts'

/** Messages to addresses that are not verified, in 24 hours. */
export type MailLimits = Readonly<Record<MailScope, number>>

export interface MailBudgetDeps {
  clock: Clock
  sealer: Sealer
  mailLimits: MailLimits
}

/** Who causes messages, and to whom. */
interface MailRequest {
  experienceId: string
  /** The first host, whose account sends. */
  accountId: string
  /** See `clientBlock`. Undefined when no client asked, so that none is charged. */
  client: string | undefined
  /** As messages are sent to them. */
  emails: readonly string[]
}

/** The cost of messages, so that it can be given back. */
export interface MailCharge {
  /** When the slot of time began in which they count. */
  slotMs: number
  scopes: Record<string, number>
}

/** A budget does not suffice. */
export class MailLimited extends AppError {
  readonly scope: MailScope

  constructor(scope: MailScope, retryAfterMs: number) {
    super('mail_limited', {
      message: `${MESSAGES[scope]} Try again after the time in Retry-After.`,
      headers: { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) },
    })
    this.scope = scope
  }
}

const MESSAGES: Readonly<Record<MailScope, string>> = {
  address: 'This address got too many messages that nobody confirmed. Open the link of one of them first.',
  client: 'Too many messages to addresses that are not verified were requested from your network.',
  experience: 'Too many messages to addresses that are not verified were sent for this experience.',
  account: 'Too many messages to addresses that are not verified were sent from the account of this host.',
}

export const WINDOW_MS = 24 * 60 * 60_000
/** Messages count for a day, to this precision. */
const SLOT_MS = 15 * 60_000

export type MailBudget = ReturnType<typeof mailBudget>

/**
 * Budgets of messages that strangers cause to strangers. Every address that messages go to counts for itself; one that is not known to
 * the host also counts for the client, the experience and the account. Call `charge` last in a transaction, after the locks of hosts,
 * accounts and bookings: it locks the rows of the budgets, in the order of their names, until the transaction ends.
 */
export function mailBudget({ clock, sealer, mailLimits }: MailBudgetDeps) {
  const key = sealer.derive('guests of experiences')
  const hash = (...parts: readonly string[]) =>
    createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url').slice(0, 32)
  const knownId = (accountId: string, email: string) => hash('known', accountId, addressKey(email))

  async function isKnown(tx: Tx, accountId: string, email: string): Promise<boolean> {
    const id = knownId(accountId, email)
    const row = await tx.selectFrom('knownGuests').select('id').where('id', '=', id).executeTakeFirst()
    return row !== undefined
  }

  return {
    /** Identifies a client without revealing its address. */
    clientHash: (client: string): string => hash('client', client),

    /** Undefined when nothing was charged. Throws `MailLimited`, and has then charged nothing. */
    async charge(tx: Tx, { experienceId, accountId, client, emails }: MailRequest): Promise<MailCharge | undefined> {
      const scopes = new Map<string, { kind: MailScope; count: number }>()
      const add = (kind: MailScope, name: string) => {
        const scope = `${kind}:${name}`
        scopes.set(scope, { kind, count: (scopes.get(scope)?.count ?? 0) + 1 })
      }
      for (const email of new Map(emails.map((email) => [mailboxKey(email), email])).values()) {
        add('address', hash('mailbox', mailboxKey(email)))
        if (await isKnown(tx, accountId, email)) continue
        if (client !== undefined) add('client', hash('client', client))
        add('experience', experienceId)
        add('account', accountId)
      }
      if (scopes.size === 0) return undefined
      const nowMs = clock.now()
      const slotMs = Math.floor(nowMs / SLOT_MS) * SLOT_MS
      const spent = await lockBudgets(tx, [...scopes.keys()])
      const charged = new Map<string, Spent>()
      // All of them are checked before one is stored, so that a caller may do without the message.
      for (const [scope, { kind, count }] of scopes) {
        const recent = (spent.get(scope) ?? []).filter(([startMs]) => windowEnd(startMs) > nowMs)
        const excess = recent.reduce((sum, [, messages]) => sum + messages, count) - mailLimits[kind]
        if (excess > 0) throw new MailLimited(kind, retryAfterMs(recent, excess, nowMs))
        charged.set(scope, added(recent, slotMs, count))
      }
      for (const [scope, next] of charged) await storeSpent(tx, scope, next)
      return { slotMs, scopes: Object.fromEntries([...scopes].map(([scope, { count }]) => [scope, count])) }
    },

    /** The guest was verified, or no message was sent: what it cost counts no longer. */
    async refund(tx: Tx, { slotMs, scopes }: MailCharge): Promise<void> {
      const spent = await lockBudgets(tx, Object.keys(scopes))
      for (const [scope, count] of Object.entries(scopes)) {
        await storeSpent(tx, scope, added(spent.get(scope) ?? [], slotMs, -count))
      }
    },

    /** Remembers addresses that were verified, or that the application named. */
    async remember(tx: Tx, accountId: string, emails: readonly string[]): Promise<void> {
      const seenAt = clock.now()
      const ids = [...new Set(emails.map((email) => knownId(accountId, email)))].sort()
      for (const id of ids) {
        await tx
          .insertInto('knownGuests')
          .values({ id, seenAt })
          .onConflict((conflict) => conflict.column('id').doUpdateSet({ seenAt }))
          .execute()
      }
    },
  }
}

/** Messages by the start of their slot of time, in order. */
type Spent = [startMs: number, messages: number][]

const windowEnd = (startMs: number) => startMs + SLOT_MS + WINDOW_MS

function added(spent: Spent, slotMs: number, count: number): Spent {
  const counts = new Map(spent)
  // A slot that is no longer counted is not counted below zero.
  const next = Math.max(0, (counts.get(slotMs) ?? 0) + count)
  return [...counts.set(slotMs, next)].filter(([, messages]) => messages > 0).sort(([left], [right]) => left - right)
}

/** When so many messages no longer count. */
function retryAfterMs(spent: Spent, tooMany: number, nowMs: number): number {
  let remaining = tooMany
  for (const [startMs, messages] of spent) {
    remaining -= messages
    if (remaining <= 0) return windowEnd(startMs) - nowMs
  }
  return WINDOW_MS
}

async function lockBudgets(tx: Tx, scopes: readonly string[]): Promise<Map<string, Spent>> {
  const spent = new Map<string, Spent>()
  // One after the other in one order, so that no two transactions wait for each other.
  for (const scope of [...scopes].sort()) {
    spent.set(scope, JSON.parse(await lockCounter(tx, scope)))
  }
  return spent
}

async function storeSpent(tx: Tx, scope: string, spent: Spent): Promise<void> {
  const last = spent.at(-1)
  await tx
    .updateTable('guestCounters')
    .set({ spent: JSON.stringify(spent), expiresAt: last === undefined ? 0 : windowEnd(last[0]) })
    .where('scope', '=', scope)
    .execute()
}
