import type { ListSeed } from '../list-pages.ts'
import type { Place } from '../stores.ts'
import type { Held } from './held-loop.ts'

/** A store with `size` messages, and as many events, deliveries and attempts when `hasEvents`. Work leaves it nearly as it was. */
export interface FilledStore {
  place: Place
  size: number
  seed: ListSeed
  hasEvents: boolean
}

export interface Done {
  /** The number of pages, rows, … that were done. */
  items: number
  /** CPU time of the service and, on PostgreSQL, of its connections. */
  cpuMs: number
  /** Only of work that must not hold the event loop. */
  held?: Held
}

/** Work of the service whose cost for each item must not depend on the size of the store. */
export interface Work {
  name: string
  /** The name of one item: `page`, `row`, … */
  item: string
  needsEvents?: true
  /** `round`: 0, 1, … Throws when the rows afterwards are not the expected ones. */
  run(store: FilledStore, round: number): Promise<Done>
}
