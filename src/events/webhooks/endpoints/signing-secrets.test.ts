import { describe, expect, it } from 'vitest'
import { rotateSecrets, validSecrets } from './signing-secrets.ts'

const HOUR_MS = 60 * 60_000

describe('the secrets of an endpoint', () => {
  it('sign together for a day after each rotation, the newest first', () => {
    const first = rotateSecrets([], 'one', 0)
    const second = rotateSecrets(first, 'two', HOUR_MS)
    const third = rotateSecrets(second, 'three', 2 * HOUR_MS)
    expect(validSecrets(third, 2 * HOUR_MS)).toEqual(['three', 'two', 'one'])
    expect(validSecrets(third, 25 * HOUR_MS)).toEqual(['three', 'two'])
    expect(validSecrets(third, 26 * HOUR_MS)).toEqual(['three'])
    expect(rotateSecrets(third, 'four', 25 * HOUR_MS).map(({ secret }) => secret)).toEqual(['four', 'three', 'two'])
  })

  it('are not duplicated when the same secret is set again', () => {
    expect(rotateSecrets(rotateSecrets([], 'one', 0), 'one', 1)).toEqual([{ secret: 'one', until: null }])
  })

  it('are removed at once when the endpoint becomes unsigned', () => {
    expect(rotateSecrets(rotateSecrets([], 'one', 0), null, 1)).toEqual([])
  })
})
