import { setTimeout as wait } from 'node:timers/promises'
import { type Db, findState, lockState, setState, type Tx } from '../../platform/db/index.ts'
import type { Ids } from '../../platform/ids.ts'
import { firstId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Aliases } from './aliases.ts'
import { collectPeople, type SeenMessage } from './collect.ts'
import { forgetPeople, savePeople } from './store.ts'

interface LearnerDeps {
  db: Db
  log: Log
  clock: Clock
  ids: Ids
  aliases: Aliases
  timing?: Partial<LearnerTiming>
}

interface LearnerTiming {
  /** How often new messages are looked for. */
  everyMs: number
  /** A message is counted this long after its id was made: transactions commit out of order. */
  settledMs: number
}

const TIMING: LearnerTiming = { everyMs: 60_000, settledMs: 5 * 60_000 }
const STATE = 'contacts.people'
const LOCK = 'contacts.people.lock'
const MESSAGES_PER_STEP = 200
/** Between two steps: the messages of years must not take the time of those that arrive. */
const PAUSE_MS = 20
/** Messages in these folders say nothing about whom a person knows. */
const EXCLUDED_ROLES = ['drafts', 'junk', 'trash'] as const

/**
 * Learns from stored messages with whom each account has exchanged mail. One cursor over all messages, by id, is stored with what was
 * learnt: each message counts once, whichever instance reads it, and a process may be killed at any time.
 */
export function peopleLearner({ db, log, clock, ids, aliases, timing = {} }: LearnerDeps) {
  const { everyMs, settledMs } = { ...TIMING, ...timing }
  const stopping = new AbortController()
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await catchUp().catch((error: unknown) => {
        if (stopping.signal.aborted) return
        log.warn('Cannot learn with whom accounts exchange mail; trying again in a minute.', {
          operation: 'contacts.people',
          error,
        })
      })
      await wait(everyMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  async function catchUp(): Promise<void> {
    const end = firstId('msg', clock.now() - settledMs)
    while (!stopping.signal.aborted) {
      // Reading this costs no lock, and no provider is asked inside a transaction.
      const accountIds = await nextAccounts(db.read, await cursor(db.read), end)
      if (accountIds.length === 0) return
      const found = await aliases.find(accountIds, stopping.signal)
      await db.transaction((tx) => learnSome(tx, end, found))
      await wait(PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  async function learnSome(tx: Tx, end: string, found: ReadonlyMap<string, readonly string[]>): Promise<void> {
    await lockState(tx, LOCK)
    const next = await nextMessages(tx, await cursor(tx), end)
    // Another instance may have learnt from the messages that were read before. Those of other accounts wait for the next step.
    const unprepared = next.findIndex(({ accountId }) => !found.has(accountId))
    const messages = unprepared === -1 ? next : next.slice(0, unprepared)
    const last = messages.at(-1)
    if (last === undefined) return
    const roles = await messageRoles(tx, messages)
    const hasRole = (id: string, wanted: readonly string[]) =>
      roles.get(id)?.some((role) => wanted.includes(role)) ?? false
    const seen = messages
      .filter(({ id }) => !hasRole(id, EXCLUDED_ROLES))
      .map((message) => ({ ...message, isInSent: hasRole(message.id, ['sent']) }))
    const addresses = await accountAddresses(tx, seen, found)
    for (const [accountId, own] of addresses) if (own.size > 1) await forgetPeople(tx, accountId, [...own])
    await savePeople(tx, ids, collectPeople(seen, addresses), clock.now())
    await setState(tx, STATE, last.id)
  }

  return {
    start(): void {
      running = run()
    },
    async stop(): Promise<void> {
      stopping.abort()
      await running
    },
  }
}

type Reader = Pick<Tx, 'selectFrom'>
type StoredMessage = Omit<SeenMessage, 'isInSent'>

async function cursor(handle: Parameters<typeof findState>[0]): Promise<string> {
  return (await findState(handle, STATE)) ?? ''
}

/** The accounts of the messages that the next step reads. */
async function nextAccounts(handle: Reader, after: string, end: string): Promise<string[]> {
  const rows = await handle
    .selectFrom('messages')
    .select('accountId')
    .where('id', '>', after)
    .where('id', '<', end)
    .orderBy('id')
    .limit(MESSAGES_PER_STEP)
    .execute()
  return [...new Set(rows.map(({ accountId }) => accountId))]
}

function nextMessages(handle: Reader, after: string, end: string): Promise<StoredMessage[]> {
  return handle
    .selectFrom('messages')
    .select(['id', 'accountId', 'receivedAt', 'fields'])
    .where('id', '>', after)
    .where('id', '<', end)
    .orderBy('id')
    .limit(MESSAGES_PER_STEP)
    .execute()
}

/** Which of the roles above the folders and labels of each message have. */
async function messageRoles(tx: Tx, messages: readonly StoredMessage[]): Promise<ReadonlyMap<string, string[]>> {
  const rows = await tx
    .selectFrom('messageLabels')
    .innerJoin('labels', 'labels.id', 'messageLabels.labelId')
    .select(['messageLabels.messageId', 'labels.role'])
    .where(
      'messageLabels.messageId',
      'in',
      messages.map(({ id }) => id),
    )
    .where('labels.role', 'in', [...EXCLUDED_ROLES, 'sent'])
    .execute()
  const roles = new Map<string, string[]>()
  for (const { messageId, role } of rows) {
    if (role !== null) roles.set(messageId, [...(roles.get(messageId) ?? []), role])
  }
  return roles
}

/** The addresses of the accounts that still exist, with their aliases, in lower case. */
async function accountAddresses(
  tx: Tx,
  messages: readonly SeenMessage[],
  aliases: ReadonlyMap<string, readonly string[]>,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const accountIds = [...new Set(messages.map(({ accountId }) => accountId))]
  if (accountIds.length === 0) return new Map()
  const rows = await tx.selectFrom('accounts').select(['id', 'email']).where('id', 'in', accountIds).execute()
  return new Map(rows.map(({ id, email }) => [id, new Set([email.toLowerCase(), ...(aliases.get(id) ?? [])])]))
}
