import { expect, it, onTestFinished } from 'vitest'
import { openGuard } from '../../../test/servers/imap-mailbox.ts'
import { startStrictSmtp } from '../../../test/servers/strict-smtp.ts'
import type { MailAccess } from '../contract/index.ts'
import { smtpProvider } from './index.ts'

const json = (value: object) => JSON.stringify(value)

/** Signs in at a server with these mechanisms, which accepts the token `good`, and explains its refusals so. */
async function signIn(mechanisms: string, tokens: readonly string[], challenge = json({ status: 'invalid_token' })) {
  const lines: string[] = []
  const server = await startStrictSmtp({
    keywords: [`AUTH ${mechanisms}`],
    async authenticate(line, ask) {
      lines.push(line)
      const [, , encoded = ''] = line.split(' ')
      const message = Buffer.from(encoded, 'base64').toString()
      if (message.includes('auth=Bearer good\x01')) return '235 2.7.0 Accepted'
      lines.push(await ask(challenge))
      return '535 5.7.8 Authentication failed'
    },
  })
  onTestFinished(() => server.close())
  const left = [...tokens]
  const refused: (string | undefined)[] = []
  const provider = smtpProvider({
    guard: openGuard,
    copies: () => ({
      contains: async () => false,
      count: async () => [],
      save: async () => {},
      markAnswered: async () => {},
    }),
  })
  onTestFinished(() => provider.closeConnections())
  const login = {
    host: server.host,
    port: server.port,
    username: 'ada@acme.test',
    security: 'starttls',
    allowPlain: true,
  } as const
  const access: MailAccess = {
    accountId: 'acc_1',
    email: 'ada@acme.test',
    secrets: {},
    settings: { smtp: login, imap: { ...login, allowSelfSigned: true, mailbox: 'INBOX' } },
    accessToken: async (token) => {
      refused.push(token)
      return left.shift() ?? 'none left'
    },
  }
  const result = provider.verify(access, new AbortController().signal)
  return { result, lines, refused }
}

it('logs in by OAUTHBEARER where it is offered, else by XOAUTH2, and never with PLAIN', async () => {
  const standard = await signIn('PLAIN XOAUTH2 OAUTHBEARER', ['good'])
  await standard.result
  expect(standard.lines).toEqual([expect.stringMatching(/^AUTH OAUTHBEARER /)])
  const older = await signIn('PLAIN XOAUTH2', ['good'])
  await older.result
  expect(older.lines).toEqual([expect.stringMatching(/^AUTH XOAUTH2 /)])
})

it('answers the explanation of a refusal, and tries one fresh token', async () => {
  const { result, lines, refused } = await signIn('OAUTHBEARER', ['old', 'good'])
  await result
  expect(lines[1]).toBe('\x01')
  expect(refused).toEqual([undefined, 'old'])
})

it.each([
  ['a scope', json({ status: 'insufficient_scope' }), { kind: 'auth_expired', tokenRefused: false }, 1],
  ['nothing readable', 'no JSON', { kind: 'auth_expired', tokenRefused: true }, 2],
  ['more than is read', json({ status: 'x'.repeat(100_000) }), { kind: 'limit_exceeded' }, 1],
])('reports a refusal that names %s', async (_name, challenge, error, attempts) => {
  const { result, refused } = await signIn('XOAUTH2', ['old', 'older'], challenge)
  await expect(result).rejects.toMatchObject(error)
  expect(refused).toHaveLength(attempts)
})

it('sends no token to a server without a mechanism for it', async () => {
  const { result, lines } = await signIn('PLAIN LOGIN', ['good'])
  await expect(result).rejects.toMatchObject({ kind: 'auth_expired', problem: 'no_oauth_login' })
  expect(lines).toEqual([])
})
