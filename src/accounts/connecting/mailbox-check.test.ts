import { expect, it } from 'vitest'
import { ProviderError } from '../../providers/contract/index.ts'
import { checkMailbox } from './mailbox-check.ts'

const mailbox = { email: 'ada@m.de', settings: {}, accessToken: async () => 'at' }

it('links an account whose provider does not respond, and leaves the check to the first sync', async () => {
  const over = new AbortController()
  const silent = {
    closeConnections: async () => {},
    verify: (_access: unknown, signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  }
  const checked = checkMailbox(silent, mailbox, over.signal)
  over.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
  await expect(checked).resolves.toEqual([])
})

it.each([
  ['rejected', true],
  ['not_found', true],
  ['unavailable', false],
  ['rate_limited', false],
  ['auth_expired', false],
] as const)('the provider error %s prevents linking: %s', async (kind, isRefused) => {
  const mail = { closeConnections: async () => {}, verify: () => Promise.reject(new ProviderError(kind, 'no')) }
  const checked = checkMailbox(mail, mailbox)
  await (isRefused ? expect(checked).rejects.toMatchObject({ kind }) : expect(checked).resolves.toEqual([]))
})
