import { setTimeout as wait } from 'node:timers/promises'
import { type Db, findState, lockState, setState, type Tx } from '../../platform/db/index.ts'
import type { Ids } from '../../platform/ids.ts'
import { firstId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { collectPeople, type SeenMessage } from './collect.ts'
import { savePeople } from './store.ts'

interface LearnerDeps {
  db: Db
  log: Log
  clock: Clock
  ids: Ids
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
export function peopleLearner({ db, log, clock, ids, timing = {} }: LearnerDeps) {
  const { everyMs, settledMs } = { ...TIMING, ...timing }
  const stopping = new AbortController()
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await catchUp().catch((error: unknown) => {
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
      // Looking costs no lock.
      if ((await nextMessages(db.read, await cursor(db.read), end, 1)).length === 0) return
      const count = await db.transaction((tx) => learnSome(tx, end))
      if (count < MESSAGES_PER_STEP) return
      await wait(PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  async function learnSome(tx: Tx, end: string): Promise<number> {
    await lockState(tx, LOCK)
    const messages = await nextMessages(tx, await cursor(tx), end, MESSAGES_PER_STEP)
    const last = messages.at(-1)
    if (last === undefined) return 0
    const roles = await messageRoles(tx, messages)
    const hasRole = (id: string, wanted: readonly string[]) =>
      roles.get(id)?.some((role) => wanted.includes(role)) ?? false
    const seen = messages
      .filter(({ id }) => !hasRole(id, EXCLUDED_ROLES))
      .map((message) => ({ ...message, isInSent: hasRole(message.id, ['sent']) }))
    const addresses = await accountAddresses(tx, seen)
    await savePeople(tx, ids, collectPeople(seen, addresses), clock.now())
    await setState(tx, STATE, last.id)
    return messages.length
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

function nextMessages(handle: Reader, after: string, end: string, limit: number): Promise<StoredMessage[]> {
  return handle
    .selectFrom('messages')
    .select(['id', 'accountId', 'receivedAt', 'fields'])
    .where('id', '>', after)
    .where('id', '<', end)
    .orderBy('id')
    .limit(limit)
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

/** The addresses of the accounts that still exist, in lower case. */
async function accountAddresses(tx: Tx, messages: readonly SeenMessage[]): Promise<ReadonlyMap<string, string>> {
  const accountIds = [...new Set(messages.map(({ accountId }) => accountId))]
  if (accountIds.length === 0) return new Map()
  const rows = await tx.selectFrom('accounts').select(['id', 'email']).where('id', 'in', accountIds).execute()
  return new Map(rows.map(({ id, email }) => [id, email.toLowerCase()]))
}
