import { describe, expect, it } from 'vitest'
import { GuardError } from '../../platform/net/index.ts'
import { providerError } from './errors.ts'

/** The properties that imapflow adds to its errors. */
function failed(fields: Record<string, unknown>): Error {
  return Object.assign(new Error('Command failed'), fields)
}
const login = (response: string, serverResponseCode?: string) =>
  failed({
    authenticationFailed: true,
    responseStatus: 'NO',
    response,
    ...(serverResponseCode && { serverResponseCode }),
  })

describe('an IMAP error as ProviderError', () => {
  it.each([
    [
      'wrong password',
      login('2 NO [AUTHENTICATIONFAILED] Authentication failed.', 'AUTHENTICATIONFAILED'),
      'auth_expired',
    ],
    ['wrong password, in words only', login('A1 NO LOGIN failed.'), 'auth_expired'],
    [
      'app password needed',
      login('NO [ALERT] Application-specific password required (Failure)', 'ALERT'),
      'auth_expired',
    ],
    [
      'too many connections, with its code',
      login('NO [LIMIT] Maximum number of connections exceeded', 'LIMIT'),
      'rate_limited',
    ],
    ['too many connections, in words', login('NO Too many simultaneous connections. (Failure)'), 'rate_limited'],
    [
      'bandwidth used up',
      login('NO [OVERQUOTA] Account exceeded command or bandwidth limits.', 'OVERQUOTA'),
      'rate_limited',
    ],
    ['login service down', login('NO [UNAVAILABLE] Temporary authentication failure.', 'UNAVAILABLE'), 'unavailable'],
    ['mailbox in use', login('NO [INUSE] Mailbox in use', 'INUSE'), 'unavailable'],
    ['Exchange lost its backend', login('BAD User is authenticated but not connected.'), 'unavailable'],
    ['plain text refused', login('NO [PRIVACYREQUIRED] use TLS', 'PRIVACYREQUIRED'), 'tls'],
    ['self-signed certificate', failed({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }), 'tls'],
    ['certificate of another name', failed({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }), 'tls'],
    ['no TLS on this port', failed({ code: 'ERR_SSL_WRONG_VERSION_NUMBER' }), 'unavailable'],
    ['STARTTLS not offered', failed({ tlsFailed: true }), 'tls'],
    ['nobody listens', failed({ code: 'ECONNREFUSED' }), 'unavailable'],
    ['no greeting', failed({ code: 'GREETING_TIMEOUT' }), 'unavailable'],
    [
      'connection closed with words',
      failed({ code: 'ClosedAfterConnectTLS', reason: 'Too many connections' }),
      'rate_limited',
    ],
    ['no such folder', failed({ responseStatus: 'NO', mailboxMissing: true }), 'not_found'],
    [
      'no such folder, by code',
      failed({ responseStatus: 'NO', responseText: '[NONEXISTENT] Unknown Mailbox' }),
      'not_found',
    ],
    ['command refused', failed({ responseStatus: 'BAD', responseText: 'Error in IMAP command' }), 'rejected'],
    ['host refused by the guard', new GuardError('refused', 'set PRIVATE_TARGETS'), 'unavailable'],
    ['anything else', 'a text', 'unavailable'],
  ])('%s: %s', (_name, error, kind) => {
    expect(providerError(error, 'testing')).toMatchObject({ name: 'ProviderError', kind })
  })

  it.each([
    ['quota_exceeded', 'NO [OVERQUOTA] Quota exceeded (mailbox for user is full)', 'OVERQUOTA'],
    ['quota_exceeded', 'NO [OVERQUOTA] Not enough disk quota', 'OVERQUOTA'],
    ['quota_exceeded', 'NO [ALERT] You exceeded your mail quota.', 'ALERT'],
    ['quota_exceeded', 'NO Over quota'],
    ['folder_read_only', 'NO [READ-ONLY] Mailbox is read-only', 'READ-ONLY'],
    ['folder_read_only', 'NO Current box is selected READ-ONLY.'],
    ['folder_read_only', 'NO Cannot expunge read-only mailbox.'],
    ['not_permitted', 'NO [NOPERM] Permission denied', 'NOPERM'],
    ['not_permitted', 'NO Permission denied'],
    ['not_permitted', 'NO Access denied for i on INBOX.x (ACL "lr" required)'],
    ['not_permitted', 'NO [ALERT] Cannot create message - no write permission or out of disk space.', 'ALERT'],
    ['not_permitted', 'NO [NOPERM] You lack administrator privileges on this mailbox.', 'NOPERM'],
    [undefined, 'NO [CANNOT] Character not allowed in mailbox name', 'CANNOT'],
    [undefined, 'NO Invalid mailbox name'],
  ])('is rejected as %s: %s', (refusal, response, serverResponseCode = '') => {
    const error = providerError(failed({ responseStatus: 'NO', response, serverResponseCode }), 'testing')
    expect([error.kind, error.refusal]).toEqual(['rejected', refusal])
  })

  it.each([
    ['NO [OVERQUOTA] Account exceeded command or bandwidth limits.', 'OVERQUOTA'],
    ['NO [ALERT] Too many simultaneous connections.', 'ALERT'],
  ])('is temporary: %s', (response, serverResponseCode) => {
    const error = providerError(failed({ responseStatus: 'NO', response, serverResponseCode }), 'testing')
    expect([error.kind, error.refusal]).toEqual(['rate_limited', undefined])
  })

  it('has retryAfterMs and timedOut', () => {
    const throttled = failed({ code: 'ETHROTTLE', throttleReset: 92_415, responseStatus: 'BAD' })
    expect(providerError(throttled, 'testing')).toMatchObject({ kind: 'rate_limited', retryAfterMs: 92_415 })
    expect(providerError(failed({ code: 'CONNECT_TIMEOUT' }), 'testing').timedOut).toBe(true)
    expect(providerError(failed({ code: 'ECONNRESET' }), 'testing').timedOut).toBe(false)
  })

  it('never quotes the server', () => {
    const error = providerError(login('NO [AUTHENTICATIONFAILED] ann@example.test: hunter2 is wrong'), 'connecting')
    expect(error.message).not.toMatch(/ann@|hunter2/)
  })

  it('is a ProviderError unchanged', () => {
    const error = providerError(failed({ code: 'ECONNRESET' }), 'one')
    expect(providerError(error, 'two')).toBe(error)
  })
})
