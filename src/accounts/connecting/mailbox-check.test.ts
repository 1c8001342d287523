import { expect, it } from 'vitest'
import { ProviderError } from '../../providers/contract/index.ts'
import { checkMailbox } from './mailbox-check.ts'

const tokens = { accessToken: 'at', expiresAt: 0, scopes: [] }

it('links an account whose provider does not respond, and leaves the check to the first sync', async () => {
  const over = new AbortController()
  const silent = {
    closeConnections: async () => {},
    verify: (_access: unknown, signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  }
  const checked = checkMailbox(silent, 'ada@m.de', tokens, over.signal)
  over.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
  await expect(checked).resolves.toBeUndefined()
})

it.each([
  ['rejected', true],
  ['not_found', true],
  ['unavailable', false],
  ['rate_limited', false],
  ['auth_expired', false],
] as const)('the provider error %s prevents linking: %s', async (kind, isRefused) => {
  const mail = { closeConnections: async () => {}, verify: () => Promise.reject(new ProviderError(kind, 'no')) }
  const checked = checkMailbox(mail, 'ada@m.de', tokens)
  await (isRefused ? expect(checked).rejects.toMatchObject({ kind }) : expect(checked).resolves.toBeUndefined())
})
