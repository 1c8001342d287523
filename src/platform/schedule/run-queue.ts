import { type Due, DueHeap } from './due-heap.ts'
import { Fifo } from './fifo.ts'

interface RunQueueLimits {
  /** How many accounts run at once. */
  concurrency: number
  /** How many of them may belong to one group, such as a mail host. */
  perGroup: number
}

interface Entry extends Due {
  readonly id: string
  group: string
  /** `delayed` entries are in the heap, `waiting` ones in the queue of their group. */
  state: 'idle' | 'delayed' | 'waiting' | 'running'
  /** The group whose slot a running entry holds. */
  runsIn: string
  /** Requested while it ran: due again as soon as it ends. */
  again: boolean
  /** Removed while it ran: forgotten as soon as it ends. */
  removed: boolean
}

interface Group {
  readonly waiting: Fifo<Entry>
  running: number
}

/**
 * Decides which account runs next; it starts nothing and reads no clock. Every method takes constant or logarithmic time.
 *
 * - One entry per account, and never two runs of one account. A request during a run leads to exactly one more run.
 * - Due accounts wait in the FIFO queue of their group. Groups take turns for the slots, so a slow group delays no other.
 * - Times are milliseconds of one monotonic clock.
 */
export class RunQueue {
  readonly #limits: RunQueueLimits
  readonly #entries = new Map<string, Entry>()
  readonly #delayed = new DueHeap<Entry>()
  readonly #groups = new Map<string, Group>()
  /** Groups with a waiting account and a free slot, in the order of their turns. */
  readonly #ready = new Fifo<string>()
  #running = 0
  #waiting = 0

  constructor(limits: RunQueueLimits) {
    this.#limits = limits
  }

  /** When the first delayed account is due; undefined when none is delayed. */
  get nextDueAt(): number | undefined {
    return this.#delayed.first()?.dueAt
  }

  get counts(): { accounts: number; waiting: number; active: number; delayed: number } {
    const { size: delayed } = this.#delayed
    return { accounts: this.#entries.size, waiting: this.#waiting, active: this.#running, delayed }
  }

  ids(): Iterable<string> {
    return this.#entries.keys()
  }

  /** False for an account that was removed, even while its last run goes on. */
  has(id: string): boolean {
    return this.#entries.get(id)?.removed === false
  }

  /** The plan for an account. `dueAt` is undefined when no run is planned, and 0 when the account is due. */
  find(id: string): { state: 'idle' | 'waiting' | 'running'; dueAt: number | undefined } | undefined {
    const entry = this.#entries.get(id)
    if (entry === undefined) return undefined
    const { state, dueAt, again } = entry
    if (state === 'delayed') return { state: 'waiting', dueAt }
    const isDue = state === 'waiting' || (state === 'running' && again)
    return { state, dueAt: isDue ? 0 : undefined }
  }

  /** Adds the account and makes it due. A known account becomes due and moves to this group. */
  add(id: string, group: string): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) {
      const added: Entry = {
        id,
        group,
        state: 'idle',
        runsIn: group,
        again: false,
        removed: false,
        dueAt: 0,
        heapIndex: -1,
      }
      this.#entries.set(id, added)
      this.#wait(added)
      return
    }
    entry.removed = false
    if (entry.state === 'waiting' && entry.group !== group) this.#leave(entry)
    entry.group = group
    this.request(id)
  }

  /** Makes the account due now; during a run, due once more. Does nothing for an unknown account. */
  request(id: string): void {
    const entry = this.#entries.get(id)
    if (entry === undefined || entry.removed) return
    if (entry.state === 'running') entry.again = true
    else if (entry.state !== 'waiting') this.#wait(entry)
  }

  /** Forgets the account; one that runs keeps its slot until `finish`. */
  remove(id: string): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    if (entry.state === 'running') {
      entry.removed = true
      entry.again = false
      return
    }
    this.#leave(entry)
    this.#entries.delete(id)
  }

  /**
   * The account to start now, if one is due and a slot is free; it counts as running until `finish`. An account for which
   * `heldMs` is positive is delayed by that instead.
   */
  take(nowMs: number, heldMs: (id: string) => number): string | undefined {
    for (let entry = this.#delayed.first(); entry !== undefined && entry.dueAt <= nowMs; ) {
      this.#wait(entry)
      entry = this.#delayed.first()
    }
    while (this.#running < this.#limits.concurrency) {
      const name = this.#ready.shift()
      if (name === undefined) return undefined
      // Its next turn is at the end of the line: the other groups come first.
      const entry = this.#groups.get(name)?.waiting.shift()
      if (entry === undefined) continue
      this.#waiting -= 1
      const delayMs = heldMs(entry.id)
      if (delayMs > 0) this.#delay(entry, nowMs + delayMs)
      else this.#start(entry)
      this.#offer(name)
      if (entry.state === 'running') return entry.id
    }
    return undefined
  }

  /** Ends the run of an account. It is due again at `dueAt`, or idle until a request. */
  finish(id: string, dueAt: number | undefined): void {
    const entry = this.#entries.get(id)
    if (entry?.state !== 'running') return
    this.#running -= 1
    const group = this.#groups.get(entry.runsIn)
    if (group !== undefined) group.running -= 1
    entry.state = 'idle'
    if (entry.removed) this.#entries.delete(id)
    else if (entry.again) this.#wait(entry)
    else if (dueAt !== undefined) this.#delay(entry, dueAt)
    this.#offer(entry.runsIn)
  }

  #wait(entry: Entry): void {
    this.#delayed.remove(entry)
    entry.state = 'waiting'
    entry.again = false
    this.#waiting += 1
    this.#group(entry.group).waiting.add(entry)
    this.#offer(entry.group)
  }

  #delay(entry: Entry, dueAt: number): void {
    entry.state = 'delayed'
    entry.dueAt = dueAt
    this.#delayed.add(entry)
  }

  #start(entry: Entry): void {
    entry.state = 'running'
    entry.runsIn = entry.group
    this.#group(entry.group).running += 1
    this.#running += 1
  }

  /** Removes an entry that does not run from the heap or its queue. */
  #leave(entry: Entry): void {
    this.#delayed.remove(entry)
    if (entry.state === 'waiting') {
      this.#waiting -= 1
      this.#groups.get(entry.group)?.waiting.delete(entry)
      this.#offer(entry.group)
    }
    entry.state = 'idle'
  }

  #group(name: string): Group {
    const existing = this.#groups.get(name)
    if (existing !== undefined) return existing
    const group: Group = { waiting: new Fifo(), running: 0 }
    this.#groups.set(name, group)
    return group
  }

  /** Gives the group its turn while it has a waiting account and a free slot; forgets a group without accounts. */
  #offer(name: string): void {
    const group = this.#groups.get(name)
    if (group === undefined) return
    if (group.waiting.size === 0 || group.running >= this.#limits.perGroup) this.#ready.delete(name)
    else this.#ready.add(name)
    if (group.waiting.size === 0 && group.running === 0) this.#groups.delete(name)
  }
}
