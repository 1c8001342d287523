import { randomBytes } from 'node:crypto'
import type { Routed } from '../fake/router.ts'
import { syncStateNotFound } from './errors.ts'
import type { MailChange } from './mailbox.ts'
import { preferredPage, type Resource } from './resources.ts'

interface Entry {
  /** `seq` numbers the last change, `full` the last one that changed more than `isRead`. */
  seq: number
  full: number
  wasId: string
  /** When the item entered and left the folder. */
  moves: { seq: number; isIn: boolean }[]
}

/** One item of a delta round. */
export interface DeltaItem {
  id: string
  wasId: string
  /** Only `isRead` changed; Graph then sends only that property. */
  readOnly: boolean
  /** It left the folder since the last round, and perhaps came back. */
  hasLeft: boolean
}

interface Round {
  user: string
  key: string
  query: string
  items: DeltaItem[]
  /** The next round starts after this change. */
  seq: number
}

/** The change log behind all delta queries. A key is a folder id, or `folders` for the folder list. */
export class ChangeLog {
  readonly #logs = new Map<string, Map<string, Entry>>()
  readonly #rounds = new Map<string, Round>()
  #seq = 0

  record({ user, id, from, to, wasId, readOnly }: MailChange): void {
    for (const key of new Set([from, to])) {
      if (key !== null) this.note(user, key, { id, wasId, readOnly, ...(from !== to && { isIn: key === to }) })
    }
  }

  /** `isIn`: the item entered or left the folder. */
  note(user: string, key: string, change: { id: string; wasId: string; readOnly?: boolean; isIn?: boolean }): void {
    const { id, wasId, readOnly = false, isIn } = change
    this.#seq += 1
    const log = this.#logs.get(`${user} ${key}`) ?? new Map<string, Entry>()
    this.#logs.set(`${user} ${key}`, log)
    const { full = 0, moves = [] } = log.get(id) ?? {}
    if (isIn !== undefined) moves.push({ seq: this.#seq, isIn })
    log.set(id, { seq: this.#seq, full: readOnly ? full : this.#seq, wasId, moves })
  }

  /** Makes every link issued to this user return 410. */
  expire(user: string): void {
    for (const [token, round] of this.#rounds) if (round.user === user) this.#rounds.delete(token)
  }

  /**
   * Returns one page. `first` lists the ids of the first round. `show` returns the current state of an item, or undefined to
   * leave it out. At most `most` items.
   */
  async page(
    request: Routed,
    key: string,
    first: () => string[],
    show: (item: DeltaItem, query: URLSearchParams) => Promise<Resource | undefined>,
    most = Number.POSITIVE_INFINITY,
  ): Promise<Response> {
    const user = request.user ?? ''
    const query = request.url.searchParams
    const token = query.get('$skiptoken') ?? query.get('$deltatoken')
    const round = token === null ? this.#begin(user, key, query, first()) : this.#resume(token, user, key)
    if (!round) return syncStateNotFound()
    const size = Math.min(most, preferredPage(request))
    const value: Resource[] = []
    for (const item of round.items.slice(0, size)) {
      const shown = await show(item, new URLSearchParams(round.query))
      if (shown) value.push(shown)
    }
    const rest = round.items.slice(size)
    const link = new URL(request.url)
    link.search = ''
    link.searchParams.set(rest.length > 0 ? '$skiptoken' : '$deltatoken', this.#keep({ ...round, items: rest }))
    return Response.json({ value, [rest.length > 0 ? '@odata.nextLink' : '@odata.deltaLink']: link.toString() })
  }

  #begin(user: string, key: string, query: URLSearchParams, ids: string[]): Round {
    const items = ids.map((id) => ({ id, wasId: id, readOnly: false, hasLeft: false }))
    return { user, key, query: query.toString(), items, seq: this.#seq }
  }

  #resume(token: string, user: string, key: string): Round | undefined {
    const round = this.#rounds.get(token)
    if (!round || round.user !== user || round.key !== key) return undefined
    if (round.items.length > 0) return round
    const changes = [...(this.#logs.get(`${user} ${key}`) ?? [])].filter(([, { seq }]) => seq > round.seq)
    const items = changes
      .sort(([, left], [, right]) => left.seq - right.seq)
      .map(([id, { full, wasId, moves }]) => {
        const wasIn = moves.findLast(({ seq }) => seq <= round.seq)?.isIn === true
        const hasLeft = wasIn && moves.some(({ seq, isIn }) => seq > round.seq && !isIn)
        return { id, wasId, readOnly: full <= round.seq, hasLeft }
      })
    return { ...round, items, seq: this.#seq }
  }

  #keep(round: Round): string {
    const token = randomBytes(18).toString('base64url')
    this.#rounds.set(token, round)
    return token
  }
}
