import { describe, expect, it } from 'vitest'
import { AppError } from '../../platform/errors/app-error.ts'
import { ProviderError } from '../../providers/contract/index.ts'
import { readLive } from './live-mailbox.ts'

async function failure(error: unknown): Promise<unknown> {
  return readLive('The event', () => Promise.reject(error)).catch((thrown: unknown) => thrown)
}

/** The reason with which a signal ends the request of a provider that is too slow. */
async function reasonOfTimeout(): Promise<unknown> {
  const signal = AbortSignal.timeout(1)
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  return signal.reason
}

describe('a live read', () => {
  it('is a provider_timeout when the provider took too long, also when the caller ended it', async () => {
    expect(await failure(await reasonOfTimeout())).toMatchObject({ code: 'provider_timeout', status: 504 })
    const late = new ProviderError('unavailable', 'reading', { timedOut: true, host: 'dav.example.com' })
    expect(await failure(late)).toMatchObject({
      code: 'provider_timeout',
      message: 'dav.example.com did not respond in time.',
    })
  })

  it('names the server that cannot be reached', async () => {
    const error = await failure(new ProviderError('unavailable', 'reading: refused', { host: 'dav.example.com' }))
    expect(error).toMatchObject({ code: 'provider_unavailable', message: 'Cannot reach dav.example.com.' })
  })

  it('says that a server is busy, and blames no credentials', async () => {
    const why = 'connecting to the mail server: the mailbox has too many connections'
    const error = await failure(new ProviderError('rate_limited', why, { busy: true, retryAfterMs: 20_000 }))
    expect(error).toMatchObject({
      code: 'provider_unavailable',
      message: `The provider is busy: ${why}. Try again later.`,
      headers: { 'retry-after': '20' },
    })
  })

  it('names what is wrong with the server', async () => {
    const error = await failure(new ProviderError('tls', 'connecting', { problem: 'certificate_expired' }))
    expect(error).toMatchObject({
      code: 'provider_unavailable',
      message:
        'The server of this account has a certificate that has expired. Ask the operator of the server to renew it.',
      details: [{ path: 'account', code: 'certificate_expired' }],
    })
  })

  it('leaves our own mistakes as they are', async () => {
    const mistake = new TypeError('x is undefined')
    expect(await failure(mistake)).toBe(mistake)
    expect(await failure(new DOMException('stopped', 'AbortError'))).not.toBeInstanceOf(AppError)
  })
})
