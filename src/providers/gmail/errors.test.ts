import { describe, expect, it } from 'vitest'
import { calendarError } from './calendar/client.ts'
import { gmailError, quotaRefusal } from './errors.ts'

const old = (reason: string, message = 'secret words') => ({ error: { code: 403, message, errors: [{ reason }] } })
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
    [400, old('failedPrecondition'), { kind: 'rejected', message: /does not allow it/ }],
    [400, old('failedPrecondition', 'Mail service not enabled'), { kind: 'rejected', message: /not enabled/ }],
    [403, info('RATE_LIMIT_EXCEEDED'), { kind: 'rate_limited', retryAfterMs: undefined }],
    [409, old('aborted'), { kind: 'conflict', message: /another change/ }],
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

  it.each([
    ['2026-11-27T20:00:30.250Z', 30_250],
    ['2026-11-30T20:00:00.000Z', 86_400_000],
    ['2026-11-27T19:00:00.000Z', undefined],
    ['2026-13-45T20:00:00.000Z', undefined],
  ])('wait until the time that the sentence of a refusal names: %s', (until, retryAfterMs) => {
    const body = old('rateLimitExceeded', `User-rate limit exceeded.  Retry after ${until}`)
    const nowMs = Date.parse('2026-11-27T20:00:00Z')
    for (const status of [403, 429]) {
      const error = gmailError({ status, headers: {}, body }, 'asking', nowMs)
      expect(error).toMatchObject({ kind: 'rate_limited', retryAfterMs })
    }
  })

  it.each([
    [old('dailyLimitExceeded'), { window: 'day' }],
    [
      info('RATE_LIMIT_EXCEEDED', { quota_limit: 'defaultPerMinutePerUser', quota_limit_value: '6000' }),
      { window: 'minute', unitsPerMinute: 6000 },
    ],
    [
      info('RATE_LIMIT_EXCEEDED', { quota_limit: 'defaultPerMinutePerProject', quota_limit_value: '9' }),
      { window: 'minute', unitsPerMinute: 9, isOfProject: true },
    ],
    [
      old(
        'rateLimitExceeded',
        "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute per user' of …",
      ),
      { window: 'minute' },
    ],
    [
      old('rateLimitExceeded', "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute' of …"),
      { window: 'minute', isOfProject: true },
    ],
    [old('rateLimitExceeded', 'Too many concurrent requests for user.'), { window: 'second' }],
    [old('rateLimitExceeded'), {}],
    [undefined, {}],
  ])('say which limit was exceeded: %j', (body, refusal) => {
    expect(quotaRefusal({ status: 403, headers: {}, body })).toEqual(refusal)
  })

  it.each([
    [
      403,
      old('quotaExceeded'),
      { kind: 'rate_limited', retryAfterMs: 3_600_000, message: /usage limit of Google Cal/ },
    ],
    [403, old('dailyLimitExceeded'), { kind: 'rate_limited', message: /daily limit of the Google project/ }],
    [409, old('duplicate'), { kind: 'exists', message: /an event with this id exists/ }],
    [409, old('conflict'), { kind: 'conflict', message: /another change/ }],
  ])('of the calendar: %i %j', (status, body, { message, ...expected }) => {
    const error = calendarError({ status, headers: {}, body }, 'asking', 0)
    expect(error).toMatchObject(expected)
    expect(error.message).toMatch(message)
  })
})
