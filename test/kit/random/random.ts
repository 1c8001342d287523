import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, inject } from 'vitest'

// The default seed of every property.
fc.configureGlobal({ seed: inject('seed') })

export { fc }

/**
 * Returns numbers in [0, 1) that depend only on the run's seed and the test's name, so that a test repeats its choices when
 * run alone.
 */
export function random(): () => number {
  const name = expect.getState().currentTestName ?? ''
  let state = createHash('sha256')
    .update(`${inject('seed')} ${name}`)
    .digest()
    .readUInt32LE()
  // mulberry32
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
