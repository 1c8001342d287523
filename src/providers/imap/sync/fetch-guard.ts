import { type FolderFetches, ProviderError } from '../../contract/index.ts'
import type { ImapClient } from '../connection/client.ts'
import type { FetchPlan } from '../messages/fetch.ts'
import { listUids } from '../messages/uids.ts'
import type { Cursor } from './cursor.ts'

/** How many messages are fetched at once after one lost connection. */
const FEW = 16
/** Messages that are fetched so before more are fetched at once again. The lost request began with them. */
const AROUND_A_FEW = 2 * FEW

/**
 * Fetches messages of one pass over a folder so that a message on which the connection ends is found, and passed from then on. Some servers
 * close the connection whenever they cannot read a message (Dovecot, when its file is damaged):
 *
 *   lost once ──► 16 at a time ──► lost twice ──► one by one: each is reported as a suspect before it is fetched
 *
 * The cursor has not moved since the connection was lost, so only the first messages of the pass are fetched so.
 */
export class FetchGuard {
  readonly #control: FolderFetches['control']
  readonly #suspect: FolderFetches['suspect']
  readonly #failing: FolderFetches['failing']
  /** Ascending limits, each with the number of messages that it still applies to. */
  readonly #limits: { messages: number; left: number }[]
  /** Whether the server returns messages. `unknown`: there is none to try it with. Undefined: not tried yet. */
  #isReading: boolean | 'unknown' | undefined

  /** Whether the connection was lost in the sync before this one. */
  readonly hasLost: boolean

  constructor(
    { losses = 0, failing = [], control = async () => null, suspect = async () => {} }: Partial<FolderFetches>,
    step: number,
  ) {
    this.#control = control
    this.#suspect = suspect
    this.#failing = failing
    const few = { messages: FEW, left: 2 * step }
    const single = { messages: 1, left: AROUND_A_FEW }
    this.hasLost = losses > 0
    this.#limits = [[], [few], [single, few]][Math.min(losses, 2)] ?? []
  }

  /** Whether as many messages as possible are fetched at once. */
  get isUsual(): boolean {
    return this.#limits.length === 0
  }

  /** How many messages to fetch at once instead of `step`. */
  limit(step: number): number {
    return Math.min(step, this.#limits[0]?.messages ?? step)
  }

  /** Whether to list UIDs from here on before fetching, so that single messages can be left out or identified. */
  needsList({ uidValidity, uidNext }: Pick<Cursor, 'uidValidity' | 'uidNext'>): boolean {
    return (
      this.#limits.length > 0 ||
      this.#failing.some((message) => message.uidValidity === uidValidity && message.uid >= uidNext)
    )
  }

  /** UIDs of messages that have failed before. They are read again later, by themselves. */
  failingIn(uidValidity: string): ReadonlySet<number> {
    return new Set(this.#failing.flatMap((message) => (message.uidValidity === uidValidity ? message.uid : [])))
  }

  /** Call it before the messages are fetched. */
  async begin(
    uids: readonly number[],
    client: ImapClient,
    { uidValidity, isNew }: Pick<FetchPlan, 'uidValidity' | 'isNew'>,
  ): Promise<void> {
    const [uid] = uids
    if (this.#limits[0]?.messages !== 1 || uid === undefined) return
    const isReading = await this.#readControl(client)
    if (isReading === false) throw returnsNone()
    await this.#suspect({ uid, uidValidity, isNew: isNew(uid), isReading: isReading === true })
  }

  /** Call it when that many messages were fetched, or passed. */
  done(messages: number, hasRead: boolean): void {
    if (hasRead) this.#isReading = true
    const [current] = this.#limits
    if (current === undefined) return
    current.left -= messages
    if (current.left <= 0) this.#limits.shift()
  }

  /** Throws when the server does not return other messages of the folder either, so that those that failed are not at fault. */
  async ensureReading(client: ImapClient): Promise<void> {
    if ((await this.#readControl(client)) !== true) throw returnsNone()
  }

  async #readControl({ imap }: ImapClient): Promise<boolean | 'unknown'> {
    if (this.#isReading !== undefined) return this.#isReading
    const uid = await this.#control()
    if (uid === null) {
      this.#isReading = 'unknown'
      return 'unknown'
    }
    const query = { uid: true, bodyParts: ['header'] }
    const row = await imap.fetchOne(String(uid), query, { uid: true }).catch((error: unknown) => {
      if (!imap.usable) throw error
      return false as const
    })
    const isReturned = row !== false && row !== undefined
    // A message that was deleted meanwhile says nothing about the others.
    const isGone = !isReturned && (await listUids(imap, { uid: String(uid) })).length === 0
    this.#isReading = isGone ? 'unknown' : isReturned
    return this.#isReading
  }
}

/** The connection is open, and another one would not help. */
function returnsNone(): ProviderError {
  return new ProviderError('unavailable', 'fetching messages: the server returns none of them', { busy: true })
}
