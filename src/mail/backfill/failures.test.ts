import { expect, it } from 'vitest'
import { StaleRead } from '../../accounts/index.ts'
import { ProviderError } from '../../providers/contract/index.ts'
import { judgeFailure } from './failures.ts'
import type { BackfillRow } from './store.ts'

it('fails for refused credentials only once sync has confirmed them', () => {
  const refused = new ProviderError('auth_expired', 'no longer valid')
  const row = { attempts: 0 } as BackfillRow
  expect(judgeFailure(refused, row, { status: 'connected' })).toMatchObject({ kind: 'later', changes: { attempts: 1 } })
  expect(judgeFailure(refused, row, { status: 'error' }).kind).toBe('later')
  expect(judgeFailure(refused, row, { status: 'auth_error' }).kind).toBe('failed')
})

it('does not take stale reads, refused logins, connections and pauses for lost connections', () => {
  const lossesAfter = (error: Error) => {
    let row = { attempts: 0, losses: 0, lastError: null } as BackfillRow
    for (let n = 0; n < 2; n += 1) {
      const verdict = judgeFailure(error, row, { status: 'connected' })
      if (verdict.kind === 'later') row = { ...row, ...verdict.changes }
    }
    return row.losses
  }
  expect(lossesAfter(new StaleRead())).toBe(0)
  expect(lossesAfter(new ProviderError('auth_expired', 'refused'))).toBe(0)
  expect(lossesAfter(new ProviderError('rate_limited', 'slow down'))).toBe(0)
  expect(lossesAfter(new ProviderError('unavailable', 'refused (ECONNREFUSED)', { notBegun: true }))).toBe(0)
  expect(lossesAfter(new ProviderError('unavailable', 'the server is busy', { busy: true }))).toBe(0)
  expect(lossesAfter(new ProviderError('unavailable', 'the connection failed (ECONNRESET)'))).toBe(2)
})

it('counts losses apart from other failures between them', () => {
  const lost = new ProviderError('unavailable', 'the connection failed (ECONNRESET)')
  const refused = new ProviderError('unavailable', 'refused (ECONNREFUSED)', { notBegun: true })
  let row = { attempts: 0, losses: 0, lastError: null } as BackfillRow
  for (const error of [lost, refused, new StaleRead(), new ProviderError('rate_limited', 'slow down'), lost]) {
    const verdict = judgeFailure(error, row, { status: 'connected' })
    if (verdict.kind === 'later') row = { ...row, ...verdict.changes }
  }
  expect(row.losses).toBe(2)
})
