import { describe, expect, it } from 'vitest'
import { gmailError } from './errors.ts'

const old = (reason: string) => ({ error: { code: 403, message: 'secret words', errors: [{ reason }] } })
const info = (reason: string, metadata = {}) => ({
  error: { code: 403, status: 'PERMISSION_DENIED', details: [{ '@type': 'x.ErrorInfo', reason, metadata }] },
})

describe('errors of Gmail', () => {
  it.each([
    [403, old('rateLimitExceeded'), { kind: 'rate_limited', retryAfterMs: undefined }],
    [403, old('userRateLimitExceeded'), { kind: 'rate_limited', retryAfterMs: undefined }],
    [429, old('rateLimitExceeded'), { kind: 'rate_limited', retryAfterMs: undefined }],
    [429, undefined, { kind: 'rate_limited' }],
    [403, old('dailyLimitExceeded'), { kind: 'rate_limited', retryAfterMs: 3_600_000, message: /daily limit/ }],
    [403, old('quotaExceeded'), { kind: 'rate_limited', retryAfterMs: 3_600_000, message: /daily limit/ }],
    [429, old('dailyLimitExceeded'), { kind: 'rate_limited', retryAfterMs: 3_600_000, message: /daily limit/ }],
    [403, old('insufficientPermissions'), { kind: 'rejected', missingScope: true, message: /gmail\.modify/ }],
    [403, info('ACCESS_TOKEN_SCOPE_INSUFFICIENT'), { kind: 'rejected', missingScope: true }],
    [403, old('accessNotConfigured'), { kind: 'rejected', missingScope: false, message: /gmail\.googleapis\.com/ }],
    [
      403,
      info('SERVICE_DISABLED', { service: 'gmail.example.com' }),
      { kind: 'rejected', message: /gmail\.example\.com/ },
    ],
    [403, info('SERVICE_DISABLED', { service: 'secret words' }), { kind: 'rejected', message: /gmail\.googleapis/ }],
    [403, old('domainPolicy'), { kind: 'rejected', missingScope: false }],
    [403, undefined, { kind: 'rejected' }],
    [403, { error: { errors: [null, 5, { reason: {} }], details: 'x' } }, { kind: 'rejected' }],
    [400, old('failedPrecondition'), { kind: 'rejected', message: /not enabled/ }],
    [401, old('authError'), { kind: 'auth_expired' }],
    [404, old('notFound'), { kind: 'not_found' }],
    [500, old('backendError'), { kind: 'unavailable' }],
  ])('%i %j', (status, body, expected) => {
    const { message, ...rest } = expected as { message?: RegExp }
    const error = gmailError({ status, headers: {}, body }, 'asking', 0)
    expect(error).toMatchObject(rest)
    if (message) expect(error.message).toMatch(message)
    expect(error.message).not.toContain('secret')
  })

  it('keep the Retry-After of Google, also of a 403', () => {
    const response = { status: 403, headers: { 'retry-after': '30' }, body: old('userRateLimitExceeded') }
    expect(gmailError(response, 'asking', 0).retryAfterMs).toBe(30_000)
    const daily = { status: 403, headers: { 'retry-after': '7200' }, body: old('dailyLimitExceeded') }
    expect(gmailError(daily, 'asking', 0).retryAfterMs).toBe(7_200_000)
  })
})
