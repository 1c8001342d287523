import { expect, it } from 'vitest'
import { spentCpuMs } from '../../../test/kit/measure/event-loop.ts'

import type { SeriesMove } from '../../providers/contract/index.ts'
import { SeriesMoves } from './moves.ts'
import { placedTime } from './times.ts'

const HOUR_MS = 3_600_000
const FIRST = Date.UTC(2027, 0, 1)
const utc = (ms: number) => ({ dateTime: new Date(ms).toISOString().slice(0, 19), timeZone: 'UTC' })

/** From every second hour on, instances begin a minute later than before. */
function buildMoves(count: number): SeriesMoves {
  const moves = Array.from({ length: count }, (_, n): SeriesMove => {
    const at = FIRST + 2 * n * HOUR_MS
    const start = at + (n + 1) * 60_000
    return { originalStart: utc(at), times: { start: utc(start), end: utc(start + 60_000) } }
  })
  return new SeriesMoves(moves, placedTime(utc(FIRST), 'UTC'), 'UTC')
}

it('moves an instance as the last move before it says', () => {
  const moves = buildMoves(3)
  const minutes = [-1, 0, 1, 2, 3, 4, 9].map((hour) => {
    const at = FIRST + hour * HOUR_MS
    const moved = moves.at(at)
    return moved && (moved.localMs - at) / 60_000
  })
  expect(minutes).toEqual([undefined, 1, 1, 2, 2, 3, 3])
})

it('takes little for a series that was moved 50,000 times', async () => {
  const moves = buildMoves(50_000)
  const spent = await spentCpuMs(() => {
    for (let n = 0; n < 50_000; n += 1) moves.at(FIRST + n * HOUR_MS)
  })
  expect(spent).toBeLessThan(1000)
})
