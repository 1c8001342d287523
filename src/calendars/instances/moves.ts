import { DAY_MS } from '../../platform/calendar/days.ts'
import type { SeriesMove } from '../../providers/contract/index.ts'
import { localIn, measureLength, type PlacedTime, placedTime } from './times.ts'

interface Move {
  /** From this original start on, as a wall clock of the series. */
  fromLocal: number
  /** Null: the series ends. */
  moved: { deltaMs: number; length: ReturnType<typeof measureLength>; busy: boolean | undefined } | null
}

interface Moved {
  localMs: number
  busy: boolean | undefined
  instanceEnd(startMs: number): number
}

/** A move of years is a mistake, and would make the expansion walk through all of them. */
export const MAX_MOVE_MS = 366 * DAY_MS

/** Where the later instances of a series take place, after it was moved (RANGE=THISANDFUTURE). */
export class SeriesMoves {
  readonly #moves: readonly Move[]
  /** The most that a moved instance lasts, and how far it is moved. */
  readonly longestMs: number
  readonly furthestMs: number

  constructor(moves: readonly SeriesMove[], start: PlacedTime, calendarZone: string | null) {
    this.#moves = moves
      .map((move) => placed(move, start, calendarZone))
      .filter(({ moved }) => moved === null || Math.abs(moved.deltaMs) <= MAX_MOVE_MS)
      .sort((left, right) => left.fromLocal - right.fromLocal)
    this.longestMs = Math.max(0, ...this.#moves.map(({ moved }) => moved?.length.longestMs ?? 0))
    this.furthestMs = Math.max(0, ...this.#moves.map(({ moved }) => Math.abs(moved?.deltaMs ?? 0)))
  }

  /** Finds the move of an instance by its original wall clock. Undefined: it is not moved. Null: it does not take place. */
  at(originalLocal: number): Moved | null | undefined {
    const move = this.#lastBefore(originalLocal)
    if (move === undefined) return undefined
    if (move.moved === null) return null
    const { deltaMs, length, busy } = move.moved
    const localMs = originalLocal + deltaMs
    return { localMs, busy, instanceEnd: (startMs) => length.instanceEnd(localMs, startMs) }
  }

  /** By bisection: a series may have as many moves as instances. */
  #lastBefore(originalLocal: number): Move | undefined {
    let [low, high] = [0, this.#moves.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#moves[middle]?.fromLocal ?? 0) <= originalLocal) low = middle + 1
      else high = middle
    }
    return this.#moves[low - 1]
  }
}

function placed({ originalStart, times, busy }: SeriesMove, series: PlacedTime, calendarZone: string | null): Move {
  const fromLocal = localIn(series, placedTime(originalStart, calendarZone))
  if (times === null) return { fromLocal, moved: null }
  const start = placedTime(times.start, calendarZone)
  const deltaMs = localIn(series, start) - fromLocal
  return { fromLocal, moved: { deltaMs, length: measureLength(start, placedTime(times.end, calendarZone)), busy } }
}
