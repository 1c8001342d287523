import { expect, it } from 'vitest'
import { ProviderError } from '../../providers/contract/index.ts'
import { verdictOf } from './failures.ts'
import type { BackfillRow } from './store.ts'

it('fails for refused credentials only once sync has confirmed them', () => {
  const refused = new ProviderError('auth_expired', 'no longer valid')
  const row = { attempts: 0 } as BackfillRow
  expect(verdictOf(refused, row, { status: 'connected' })).toMatchObject({ kind: 'later', changes: { attempts: 1 } })
  expect(verdictOf(refused, row, { status: 'error' }).kind).toBe('later')
  expect(verdictOf(refused, row, { status: 'auth_error' }).kind).toBe('failed')
})
