import { expect, it } from 'vitest'
import { smtpError } from './errors.ts'

/** Responses that servers send to AUTH, by what they mean. */
const RESPONSES: Record<string, string[]> = {
  auth_expired: [
    '535 5.7.8 Error: authentication failed: (reason unavailable)',
    '535-5.7.8 Username and Password not accepted. For more information, go to https://support.google.com/mail/?p=BadCredentials',
    '534-5.7.9 Application-specific password required.',
    '535 5.7.3 Authentication unsuccessful',
    '535 5.7.139 Authentication unsuccessful, SmtpClientAuthentication is disabled for the Tenant.',
    '535 Login fail. Please enter your authorization code to login.',
  ],
  rate_limited: [
    '454 4.7.0 Too many login attempts, please try again later.',
    '421 4.7.0 Too many connections from your host',
    '535 5.7.0 Too many failed login attempts',
    '535 4.7.0 Authentication failed',
    '535 Authentication failed: account temporarily locked',
    '550 5.7.1 Login limit exceeded, try later',
  ],
  unavailable: ['454 4.7.0 Temporary authentication failure: Connection lost to authentication server'],
}

it('says that a mailbox is full, and that the server requires encryption', () => {
  const refused = (code: string, response: string) =>
    smtpError(Object.assign(new Error('x'), { code, responseCode: Number(response.slice(0, 3)), response }), 'sending')
  const full = { kind: 'rejected', message: 'sending: a mailbox is full (552)' }
  expect(refused('EMESSAGE', '552 5.2.2 Over quota')).toMatchObject(full)
  expect(refused('EENVELOPE', '530 5.7.0 Must issue a STARTTLS command first')).toMatchObject({
    kind: 'auth_expired',
    problem: 'encryption_required',
  })
})

it.each(Object.entries(RESPONSES).flatMap(([kind, all]) => all.map((response) => [response, kind])))(
  'takes %s as %s',
  (response, kind) => {
    const refusal = { code: 'EAUTH', responseCode: Number(response.slice(0, 3)), response }
    expect(smtpError(Object.assign(new Error('Invalid login'), refusal), 'signing in')).toMatchObject({ kind })
  },
)
