import type { Bus } from '../../platform/bus/index.ts'
import { sleep } from '../../platform/concurrency/abort.ts'
import { nextTurn, TURN_MS, yieldIfHeld } from '../../platform/concurrency/event-loop.ts'
import type { Db } from '../../platform/db/index.ts'
import type { StreamSlots } from '../../platform/http/index.ts'
import type { Log } from '../../platform/log/index.ts'
import { type EventHead, eventFeed, STAMPED_TOPIC } from '../index.ts'
import { Audience, type Group, type Subscriber } from './audience.ts'
import { bytesAfter, type Frame, readFrames } from './frames.ts'

interface LiveReaderDeps {
  db: Pick<Db, 'read'>
  bus: Bus
  log: Log
  slots: Pick<StreamSlots, 'push'>
  /** Event heads per read. */
  headsPerRead: number
  /** How often it reads without a hint while streams are open: a hint of another instance may be lost. */
  pollMs: number
}

/** Complete events per read: at most 4 MB. */
const EVENTS_PER_READ = 16
/**
 * The pause after events were sent, for each stream. Events that follow meanwhile share a read and a write to each stream. A write
 * takes 20 to 50 µs, so streams take about 1 % of a core however fast events follow each other.
 */
const PAUSE_PER_STREAM_MS = 4
const MAX_PAUSE_MS = 500

/**
 * Reads new events once for all streams of this instance. It reads from the position of the stream that is furthest behind;
 * the others skip what they have. A stream joins only between two reads, so it gets every event after its position once.
 */
export class LiveReader {
  readonly #deps: LiveReaderDeps
  readonly #audience = new Audience()
  readonly #joining = new Set<Subscriber>()
  readonly #closing = new AbortController()
  readonly #unsubscribe: () => void
  #running: Promise<void> | undefined
  #again = false
  #poll: NodeJS.Timeout | undefined

  constructor(deps: LiveReaderDeps) {
    this.#deps = deps
    this.#unsubscribe = deps.bus.subscribe(STAMPED_TOPIC, () => this.#wake())
  }

  /** The stream gets the events after its position, until it ends. Few events should be between it and the end of the feed. */
  join(subscriber: Subscriber): void {
    if (this.#closing.signal.aborted || !subscriber.stream.isOpen) return
    this.#joining.add(subscriber)
    subscriber.stream.onClose(() => this.#leave(subscriber))
    this.#poll ??= setInterval(() => this.#wake(), this.#deps.pollMs)
    this.#wake()
  }

  /** Ends after the running read. Twice safely. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#unsubscribe()
    clearInterval(this.#poll)
    await this.#running
  }

  #leave(subscriber: Subscriber): void {
    this.#joining.delete(subscriber)
    this.#audience.delete(subscriber)
    if (this.#isIdle()) {
      clearInterval(this.#poll)
      this.#poll = undefined
    }
  }

  #isIdle(): boolean {
    return this.#audience.size + this.#joining.size === 0
  }

  #wake(): void {
    if (this.#isIdle() || this.#closing.signal.aborted) return
    this.#again = true
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      // A wake after the last check and before this line would otherwise be lost.
      if (this.#again) this.#wake()
    })
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    try {
      while (this.#again && !this.#isIdle() && !signal.aborted) {
        this.#again = false
        await this.#readToEnd(signal)
        await sleep(Math.min(MAX_PAUSE_MS, PAUSE_PER_STREAM_MS * this.#audience.size), signal)
      }
      this.#again = false
    } catch (error) {
      this.#again = false
      if (signal.aborted) return
      this.#deps.log.warn('Cannot read events for the event streams. They wait until the next attempt.', {
        operation: 'events.stream',
        error,
      })
    }
  }

  async #readToEnd(signal: AbortSignal): Promise<void> {
    const { db, headsPerRead } = this.#deps
    let count: number
    do {
      this.#admit()
      const from = lowestPosition(this.#audience)
      const heads = await eventFeed(db.read).heads(from, headsPerRead)
      count = heads.length
      await this.#send(heads, signal)
    } while (!signal.aborted && !this.#isIdle() && (count === headsPerRead || this.#joining.size > 0))
  }

  #admit(): void {
    for (const subscriber of this.#joining) this.#audience.add(subscriber)
    this.#joining.clear()
  }

  async #send(heads: readonly EventHead[], signal: AbortSignal): Promise<void> {
    const wanted = heads.filter((head) => this.#audience.wants(head))
    while (wanted.length > 0 && !signal.aborted) {
      const next = wanted.splice(0, EVENTS_PER_READ)
      const frames = await readFrames(this.#deps.db.read, next)
      for (const [group, ofGroup] of byGroup(this.#audience, frames)) await this.#sendTo(group, ofGroup)
      advance(this.#audience, next.at(-1)?.position ?? 0)
      // Lets the sockets take what was sent before the next events follow.
      if (wanted.length > 0) await nextTurn()
    }
    if (!signal.aborted) advance(this.#audience, heads.at(-1)?.position ?? 0)
  }

  async #sendTo({ members }: Group, frames: readonly Frame[]): Promise<void> {
    const [first] = frames
    const last = frames.at(-1)
    if (first === undefined || last === undefined) return
    const all = bytesAfter(frames, 0)
    for (const member of members) {
      const bytes = member.position < first.position ? all : bytesAfter(frames, member.position)
      member.position = Math.max(member.position, last.position)
      if (bytes.length > 0) this.#deps.slots.push(member.stream, bytes)
      await yieldIfHeld(TURN_MS)
    }
  }
}

function lowestPosition(audience: Audience): number {
  let lowest = Number.MAX_SAFE_INTEGER
  for (const { position } of audience) lowest = Math.min(lowest, position)
  return lowest
}

function advance(audience: Audience, position: number): void {
  for (const subscriber of audience) subscriber.position = Math.max(subscriber.position, position)
}

function byGroup(audience: Audience, frames: readonly Frame[]): Map<Group, Frame[]> {
  const groups = new Map<Group, Frame[]>()
  for (const frame of frames) {
    for (const group of audience.findGroups(frame)) {
      const ofGroup = groups.get(group)
      if (ofGroup === undefined) groups.set(group, [frame])
      else ofGroup.push(frame)
    }
  }
  return groups
}
