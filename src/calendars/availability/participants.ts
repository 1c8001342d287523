import { type Account, type Accounts, accountQueries } from '../../accounts/index.ts'
import { untilAborted } from '../../platform/concurrency/abort.ts'
import type { Db } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { ProviderError } from '../../providers/contract/index.ts'
import { calendarStore } from '../store.ts'
import type { AccountBusy, Asked } from './account-busy.ts'
import type { Known } from './api.ts'
import { ifFound, mayRead, type OwnTimes } from './own-times.ts'

export interface ParticipantsDeps {
  db: Db
  accounts: Pick<Accounts, 'resolve' | 'get'>
  busy: AccountBusy
  own: OwnTimes
}

/** How many participants are looked up at once. */
const CONCURRENCY = 8
/** A mailbox may be connected for several customers. */
const MAX_ACCOUNTS_PER_ADDRESS = 4

/**
 * Finds when each participant is busy:
 *
 *   id of a calendar ──────────────────► that calendar
 *   id or customUserId of an account ──► its own calendars
 *   address of an account ─────────────► its own calendars ──(none, or unreadable)──┐
 *   any other address ─────────────────────────────────────────────────────────────►┴─► the provider of the asking account
 *
 * Failures of the asking account are thrown as `ProviderError`. Those of another account leave its participant unknown.
 */
export function participantTimes({ db, accounts, busy, own }: ParticipantsDeps) {
  return async (asking: Account, participants: readonly string[], asked: Asked): Promise<Map<string, Known>> => {
    const connected = await connectedAccounts(participants.filter(isAddress))
    const times = new Map<string, Known>(participants.map((participant) => [participant, { reason: 'not_found' }]))
    const queue = participants.values()
    const work = async () => {
      for (const participant of queue) {
        const found = await find(participant)
        if (found !== undefined) times.set(participant, found)
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, work))

    const others = participants.filter((participant) => isAddress(participant) && !isKnown(times.get(participant)))
    if (others.length > 0) {
      const found = await busy.ofAddresses(asking, others, asked)
      for (const [index, participant] of others.entries())
        times.set(participant, found[index] ?? { reason: 'unavailable' })
    }
    return times

    async function find(participant: string): Promise<Known | undefined> {
      if (participant.startsWith('cal_')) return ofCalendar(participant)
      if (!isAddress(participant)) return ofAccount(await accountNamed(participant))
      for (const id of connected.get(participant.toLowerCase()) ?? []) {
        const found = await ofAccount(await own.findAccount(id))
        if (isKnown(found)) return found
      }
      return undefined
    }

    async function ofCalendar(id: string): Promise<Known | undefined> {
      const row = await calendarStore(db.read).get(id)
      const account = row && (await own.findAccount(row.accountId))
      return row && account && tolerant(account, () => busy.ofCalendars(account, [row], asked))
    }

    async function ofAccount(account: Account | undefined): Promise<Known | undefined> {
      if (account === undefined) return undefined
      if (!mayRead(account)) return { reason: 'unavailable' }
      return tolerant(account, async () => (await own.read(account, asked)) ?? { reason: 'not_found' })
    }

    async function tolerant(account: Account, read: () => Promise<Known>): Promise<Known> {
      try {
        asked.signal.throwIfAborted()
        return await untilAborted(read(), asked.signal)
      } catch (error) {
        const isTheirs = error instanceof ProviderError || (error instanceof AppError && error.type === 'provider')
        if (!isTheirs || account.id === asking.id) throw error
        return { reason: 'unavailable' }
      }
    }

    /** Ids by address in lower case; the asking account first. */
    async function connectedAccounts(addresses: readonly string[]): Promise<Map<string, string[]>> {
      const found = new Map<string, string[]>()
      for (const { id, email } of await accountQueries(db.read).withAddresses(addresses)) {
        const ids = found.get(email.toLowerCase()) ?? []
        if (id === asking.id) ids.unshift(id)
        else ids.push(id)
        found.set(email.toLowerCase(), ids.slice(0, MAX_ACCOUNTS_PER_ADDRESS))
      }
      return found
    }
  }

  async function accountNamed(idOrAlias: string): Promise<Account | undefined> {
    return ifFound(async () => accounts.get((await accounts.resolve(db.read, idOrAlias)).id))
  }
}

function isAddress(participant: string): boolean {
  return participant.includes('@')
}

function isKnown(times: Known | undefined): boolean {
  return times !== undefined && 'busy' in times
}
