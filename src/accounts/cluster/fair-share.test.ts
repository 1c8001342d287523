import { describe, expect, it } from 'vitest'
import { fc } from '../../../test/kit/random/random.ts'
import { fairMove } from './fair-share.ts'

/** Runs the instances in the given order until a round moves nothing. Returns the counts and the number of moves. */
function runRounds(
  owned: Map<string, number>,
  free: number,
  order: readonly string[],
): { rounds: number; moved: number } {
  let unowned = free
  let moved = 0
  for (let rounds = 0; rounds < 50; rounds += 1) {
    const before = moved
    for (const me of order) {
      const { take, giveBack } = fairMove({ me, owned, free: unowned })
      owned.set(me, (owned.get(me) ?? 0) + take - giveBack)
      unowned += giveBack - take
      moved += take + giveBack
    }
    if (moved === before) return { rounds, moved: unowned === 0 ? moved : Number.NaN }
  }
  throw new Error(`still moving: ${[...owned.values()]}, ${unowned} free`)
}

const names = ['a', 'b', 'c', 'd', 'e']

describe('the fair share', () => {
  it('gives all instances the same number, within one, from any state and in any order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(40), { minLength: 1, maxLength: 5 }),
        fc.nat(40),
        fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5, maxLength: 5 }),
        (counts, free, shuffle) => {
          const owned = new Map(counts.map((count, i) => [names[i] ?? '', count]))
          const order = shuffle.flatMap((i) => (i < counts.length ? [names[i] ?? ''] : []))
          const total = counts.reduce((sum, count) => sum + count, free)
          expect(runRounds(owned, free, order).moved).not.toBeNaN()
          expect(Math.max(...owned.values()) - Math.min(...owned.values())).toBeLessThanOrEqual(1)
          expect([...owned.values()].reduce((sum, count) => sum + count, 0)).toBe(total)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('moves only as many accounts as the imbalance requires', () => {
    const owned = new Map([
      ['a', 25],
      ['b', 25],
      ['c', 0],
    ])
    expect(runRounds(owned, 0, ['a', 'b', 'c']).moved).toBe(2 * 16)
    expect(
      runRounds(
        new Map([
          ['a', 2],
          ['b', 3],
        ]),
        0,
        ['b', 'a'],
      ).moved,
    ).toBe(0)
  })
})
