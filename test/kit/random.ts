import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, inject } from 'vitest'

// Properties without a seed of their own begin at that of the run.
fc.configureGlobal({ seed: inject('seed') })

export { fc }

/**
 * Numbers from 0 up to 1 that depend only on the seed of the run and the name of the test that calls this, so that a test repeats
 * alone what it did in the whole suite.
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
