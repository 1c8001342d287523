import { median } from './figures.ts'
import type { Compared } from './rounds.ts'

/** What a benchmark must reach: as a multiple of the raw protocol, or by itself. */
export type Limit = { ratioAtMost: number } | { ratioAtLeast: number } | { atMost: number } | { atLeast: number }

export interface Verdict {
  bench: string
  /** What was measured, such as `10,000 messages of one account`. */
  what: string
  /** `ms`, `/s`, `MB`, … */
  unit: string
  /** Medians. */
  ours: number
  bare?: number
  ratio?: number
  limit: Limit
  isMet: boolean
  /** Every sample, in the order of the rounds. */
  samples: { ours: readonly number[]; bare?: readonly number[] }
}

/** Compares the median with the limit. Without samples of the raw protocol, the limit must be one of the figure itself. */
export function judge(
  about: Pick<Verdict, 'bench' | 'what' | 'unit' | 'limit'>,
  { ours, bare }: { ours: readonly number[]; bare?: Compared['bare'] },
): Verdict {
  const value = median(ours)
  const beside = bare === undefined ? undefined : median(bare)
  const ratio = beside === undefined ? undefined : value / beside
  return {
    ...about,
    ours: rounded(value),
    ...(beside !== undefined && { bare: rounded(beside) }),
    ...(ratio !== undefined && { ratio: rounded(ratio) }),
    isMet: isWithin(about.limit, value, ratio),
    samples: { ours: ours.map(rounded), ...(bare !== undefined && { bare: bare.map(rounded) }) },
  }
}

function isWithin(limit: Limit, value: number, ratio = Number.NaN): boolean {
  if ('ratioAtMost' in limit) return ratio <= limit.ratioAtMost
  if ('ratioAtLeast' in limit) return ratio >= limit.ratioAtLeast
  return 'atMost' in limit ? value <= limit.atMost : value >= limit.atLeast
}

/** Prints a line for people, and one of JSON. */
export function sayVerdict(say: (line: string) => void, verdict: Verdict): void {
  const { what, unit, ours, bare, ratio, limit, isMet } = verdict
  const beside = bare === undefined ? '' : ` · bare ${format(bare, unit)} · ${ratio} ×`
  say(`${what.padEnd(41)}${format(ours, unit)}${beside} · ${describeLimit(limit, unit)}${isMet ? '' : ' · NOT MET'}`)
  say(JSON.stringify(verdict))
}

function describeLimit(limit: Limit, unit: string): string {
  if ('ratioAtMost' in limit) return `limit ${limit.ratioAtMost} ×`
  if ('ratioAtLeast' in limit) return `at least ${limit.ratioAtLeast} ×`
  return 'atMost' in limit ? `limit ${format(limit.atMost, unit)}` : `at least ${format(limit.atLeast, unit)}`
}

const format = (value: number, unit: string) => `${value.toLocaleString('en')}${unit.startsWith('/') ? '' : ' '}${unit}`

const rounded = (value: number) => Number(value.toPrecision(4))
