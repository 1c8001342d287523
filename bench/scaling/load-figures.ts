import type { Load } from '../../test/kit/cluster/simulated-database.ts'

/** What a scenario asked of the database and of the bus. */
export interface LoadFigures {
  seconds: number
  /** Sums over all kinds, in the mean of the scenario and in its busiest second. */
  perSecond: Load
  busiestSecond: Load
  /** Means by kind. */
  byKind: Record<string, Load>
  hintsPerSecond: { published: number; delivered: number }
}

/** Adds up the loads of seconds. */
export class LoadMeter {
  #seconds = 0
  readonly #byKind = new Map<string, Load>()
  #busiest = emptyLoad()
  #published = 0
  #delivered = 0

  addSecond(loads: ReadonlyMap<string, Load>, hints: { published: number; delivered: number }): void {
    const sum = emptyLoad()
    for (const [kind, load] of loads) {
      const kindSum = this.#byKind.get(kind) ?? emptyLoad()
      this.#byKind.set(kind, kindSum)
      add(kindSum, load)
      add(sum, load)
    }
    this.#seconds += 1
    this.#published += hints.published
    this.#delivered += hints.delivered
    if (sum.cpuMs > this.#busiest.cpuMs) this.#busiest = sum
  }

  figures(): LoadFigures {
    const total = emptyLoad()
    for (const load of this.#byKind.values()) add(total, load)
    return {
      seconds: this.#seconds,
      perSecond: mean(total, this.#seconds),
      busiestSecond: this.#busiest,
      byKind: Object.fromEntries([...this.#byKind].map(([kind, load]) => [kind, mean(load, this.#seconds)])),
      hintsPerSecond: { published: this.#published / this.#seconds, delivered: this.#delivered / this.#seconds },
    }
  }
}

const emptyLoad = (): Load => ({ statements: 0, rowsRead: 0, rowsWritten: 0, cpuMs: 0 })

function add(sum: Load, load: Load): void {
  sum.statements += load.statements
  sum.rowsRead += load.rowsRead
  sum.rowsWritten += load.rowsWritten
  sum.cpuMs += load.cpuMs
}

function mean(load: Load, seconds: number): Load {
  return {
    statements: load.statements / seconds,
    rowsRead: load.rowsRead / seconds,
    rowsWritten: load.rowsWritten / seconds,
    cpuMs: load.cpuMs / seconds,
  }
}
