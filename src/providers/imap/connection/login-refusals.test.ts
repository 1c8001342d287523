import { expect, it } from 'vitest'
import { providerError } from '../errors.ts'

/** Responses that servers send to LOGIN or AUTHENTICATE, by what they mean. */
const RESPONSES: Record<string, string[]> = {
  auth_expired: [
    // Gmail
    'NO [AUTHENTICATIONFAILED] Invalid credentials (Failure)',
    'NO [ALERT] Invalid credentials (Failure)',
    'NO [ALERT] Application-specific password required: https://support.google.com/accounts/answer/185833 (Failure)',
    'NO [ALERT] Please log in via your web browser: https://support.google.com/mail/accounts/answer/78754 (Failure)',
    'NO [ALERT] Your account is not enabled for IMAP use. Please visit your settings. (Failure)',
    'NO [WEBALERT https://accounts.google.com/signin/continue?sarp=1] Web login required.',
    // Dovecot, Cyrus, Courier
    'NO [AUTHENTICATIONFAILED] Authentication failed.',
    'NO [AUTHORIZATIONFAILED] Authorization failed',
    'NO [EXPIRED] Password expired',
    'NO [EXPIRED] Your password has expired. Change it, then try again later.',
    'NO Login failed: authentication failure',
    'NO Login failed: user not found',
    'NO Login failed.',
    // Exchange and Outlook
    'NO LOGIN failed.',
    'NO AUTHENTICATE failed.',
    // Yahoo, AOL
    'NO [AUTHENTICATIONFAILED] LOGIN Invalid credentials',
    'NO [AUTHENTICATIONFAILED] (#AUTH012) Incorrect username or password. Please try again.',
    // Yandex, Mail.ru, QQ, 163
    'NO [AUTHENTICATIONFAILED] AUTHENTICATE invalid credentials or IMAP is disabled',
    'NO LOGIN invalid credentials or IMAP is disabled',
    'NO [AUTHENTICATIONFAILED] Application password is REQUIRED',
    'NO Login fail. Account is abnormal, service is not open, password is incorrect, login frequency limited, or system is busy.',
    'NO LOGIN Login error or password error',
    // hMailServer, Kerio, Zoho, others
    'NO Invalid user name or password.',
    'BAD Invalid credentials',
    'NO [ALERT] You are yet to enable IMAP for your account. Please contact your administrator',
    'NO [NOPERM] Access denied',
    'NO',
    'NO 密码错误',
  ],
  rate_limited: [
    'NO [ALERT] Too many simultaneous connections. (Failure)',
    'NO Too many simultaneous connections. (Failure)',
    'NO [ALERT] Account exceeded command or bandwidth limits. (Failure)',
    'NO [OVERQUOTA] Account exceeded command or bandwidth limits. (Failure)',
    'NO [UNAVAILABLE] Maximum number of connections from user+IP exceeded (mail_max_userip_connections=10)',
    'NO [LIMIT] Maximum number of connections from user+IP exceeded (mail_max_userip_connections=10)',
    'NO [LIMIT] LOGIN Rate limit hit.',
    'NO [LIMIT] ',
    'NO [limit] Too many open sessions',
    'NO [AUTHENTICATIONFAILED] Too many failed login attempts. Try again in 15 minutes.',
    'NO [AUTHENTICATIONFAILED] Invalid credentials: too many login failures',
    'NO [ALERT] Login failed: maximum number of connections reached',
    'NO Login failed: concurrent connections limit reached',
    'NO LOGIN failed; session limit exceeded',
    'NO [AUTHENTICATIONFAILED] Login rate limit reached',
    'NO [THROTTLED] Slow down',
    'BAD Too many invalid IMAP commands.',
  ],
  unavailable: [
    'NO [UNAVAILABLE] Temporary authentication failure. [mx1:2026-11-27 09:00:00]',
    'NO [UNAVAILABLE] LOGIN Server error - Please try again later',
    'NO [UNAVAILABLE] This server is unable to access your mailbox. Please try again later.',
    'NO [AUTHENTICATIONFAILED] Temporary authentication failure',
    'NO [SERVERBUG] LOGIN Server error',
    'NO [INUSE] Mailbox in use',
    'NO [CONTACTADMIN] MySQL error',
    'NO [ContactAdmin] This account has been administratively locked.',
    'NO [ALERT] Service is shutting down',
    'NO [ALERT] System too busy',
    'NO [ALERT] System Error (Failure)',
    'NO [ALERT] Lookup failed (Failure)',
    'NO Login failed: generic failure',
    'NO Login failed: account is in maintenance',
    'NO Temporary problem, please try again later',
    'NO Invalid login or password, or the server is temporarily unavailable',
    'BAD User is authenticated but not connected.',
    'NO Server Unavailable. 15',
    'BAD Error in IMAP command received by server.',
  ],
  tls: [
    'NO [PRIVACYREQUIRED] Plaintext authentication disallowed on non-secure (SSL/TLS) connections.',
    'NO Login only available under a layer',
    'NO Plaintext authentication disallowed',
  ],
}

it.each(Object.entries(RESPONSES).flatMap(([kind, all]) => all.map((response) => [response, kind])))(
  'takes %s as %s',
  (response, kind) => {
    const status = response.startsWith('BAD') ? 'BAD' : 'NO'
    // As imapflow passes a refusal: with the code by itself only where its parser found one.
    const code = /^[A-Z]+ \[([A-Z]+)\]/.exec(response)?.[1]
    const fields = { authenticationFailed: true, responseStatus: status, response }
    const error = Object.assign(new Error('Command failed'), fields, code && { serverResponseCode: code })
    expect(providerError(error, 'connecting')).toMatchObject({ kind })
  },
)

it('asks for a pause after a limit, a shorter one while there are only too many connections', () => {
  const readPause = (response: string) =>
    providerError(Object.assign(new Error(), { authenticationFailed: true, responseStatus: 'NO', response }), 'x')
      .retryAfterMs ?? 0
  const connections = readPause('NO [ALERT] Too many simultaneous connections. (Failure)')
  expect(connections).toBeGreaterThan(0)
  expect(readPause('NO [LIMIT] LOGIN Rate limit hit.')).toBeGreaterThan(connections)
  expect(readPause('NO [CONTACTADMIN] Locked')).toBeGreaterThan(connections)
})
