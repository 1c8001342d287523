import type { EventStream } from '../../platform/http/index.ts'
import type { EventHead } from '../index.ts'

/** Which events a stream gets. */
export interface StreamFilter {
  /** Equal for filters that accept the same types. */
  typesKey: string
  acceptsType(type: string): boolean
  /** Undefined: the events of all accounts, and those that concern none. */
  accountId: string | undefined
}

export function accepts(filter: StreamFilter, { type, accountId }: Pick<EventHead, 'type' | 'accountId'>): boolean {
  return (filter.accountId === undefined || filter.accountId === accountId) && filter.acceptsType(type)
}

/** One stream and how far it is. */
export interface Subscriber {
  stream: EventStream
  filter: StreamFilter
  /** The stream has sent every event up to here that it should. */
  position: number
}

/** Streams with the same filter, which get the same bytes. */
export interface Group {
  filter: StreamFilter
  members: Set<Subscriber>
}

/** Subscribers by filter. The groups of an event are found by its account, however many streams other accounts have. */
export class Audience {
  readonly #groups = new Map<string | undefined, Map<string, Group>>()
  readonly #all = new Set<Subscriber>()

  get size(): number {
    return this.#all.size
  }

  [Symbol.iterator](): Iterator<Subscriber> {
    return this.#all.values()
  }

  add(subscriber: Subscriber): void {
    const { filter } = subscriber
    const ofAccount = this.#groups.get(filter.accountId) ?? new Map<string, Group>()
    this.#groups.set(filter.accountId, ofAccount)
    const group = ofAccount.get(filter.typesKey) ?? { filter, members: new Set() }
    ofAccount.set(filter.typesKey, group)
    group.members.add(subscriber)
    this.#all.add(subscriber)
  }

  /** Has no effect when the subscriber is not a member. */
  delete(subscriber: Subscriber): void {
    if (!this.#all.delete(subscriber)) return
    const { accountId, typesKey } = subscriber.filter
    const ofAccount = this.#groups.get(accountId)
    const group = ofAccount?.get(typesKey)
    group?.members.delete(subscriber)
    if (group?.members.size === 0) ofAccount?.delete(typesKey)
    if (ofAccount?.size === 0) this.#groups.delete(accountId)
  }

  /** The groups that get the event. */
  *findGroups({ type, accountId }: Pick<EventHead, 'type' | 'accountId'>): Generator<Group> {
    const keys = accountId === null ? [undefined] : [undefined, accountId]
    for (const key of keys) {
      for (const group of this.#groups.get(key)?.values() ?? []) {
        if (group.filter.acceptsType(type)) yield group
      }
    }
  }

  wants(head: EventHead): boolean {
    return this.findGroups(head).next().done !== true
  }
}
