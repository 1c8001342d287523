import { describe, expect, it } from 'vitest'
import { graphError } from './errors.ts'

const response = (status: number, code: string, headers = {}) => ({ status, headers, body: { error: { code } } })

describe('errors of Graph', () => {
  it.each(['ErrorMailboxMoveInProgress', 'ErrorMailboxStoreUnavailable', 'serviceNotAvailable'])(
    'keep the Retry-After of a 503 with %s',
    (code) => {
      const error = graphError(response(503, code, { 'retry-after': '30' }), 'asking', 0)
      expect(error).toMatchObject({ kind: 'unavailable', retryAfterMs: 30_000 })
    },
  )
})
