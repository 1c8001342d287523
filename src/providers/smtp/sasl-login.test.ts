import { createHash, createHmac, pbkdf2Sync } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openGuard } from '../../../test/servers/imap-mailbox.ts'
import { type StrictSmtpScript, startStrictSmtp } from '../../../test/servers/strict-smtp.ts'
import { postfixAvailable, startPostfix } from '../../../test/servers/unpacked/postfix.ts'
import type { MailAccess } from '../contract/index.ts'
import { smtpProvider } from './index.ts'
import { challengeMechanism } from './sasl-login.ts'

const noCopies = () => ({
  contains: async () => false,
  count: async () => [],
  save: async () => {},
  markAnswered: async () => {},
})

async function signIn({ host, port }: { host: string; port: number }, password: string): Promise<void> {
  const provider = smtpProvider({ guard: openGuard, copies: noCopies })
  onTestFinished(() => provider.closeConnections())
  const login = { host, port, username: 'ada', security: 'starttls', allowPlain: true } as const
  const access: MailAccess = {
    accountId: 'acc_1',
    email: 'ada@acme.example',
    secrets: { password },
    settings: { smtp: login, imap: { ...login, allowSelfSigned: true, mailbox: 'INBOX' } },
  }
  await provider.verify(access, new AbortController().signal)
}

describe('logins over SMTP that do not send the password', () => {
  it.each([
    ['AUTH PLAIN SCRAM-SHA-256', true, undefined],
    ['AUTH SCRAM-SHA-1 SCRAM-SHA-256 CRAM-MD5', true, 'SCRAM-SHA-256'],
    ['AUTH=LOGIN SCRAM-SHA-256', false, 'SCRAM-SHA-256'],
    ['AUTH PLAIN CRAM-MD5', false, 'CRAM-MD5'],
    ['AUTH PLAIN', false, undefined],
  ])('with "%s", and TLS %s: %s', (line, isEncrypted, mechanism) => {
    expect(challengeMechanism(`250-mx.test\n250-${line}\n250 SIZE`, isEncrypted)).toBe(mechanism)
  })

  it('logs in without sending the password, and refuses a server that does not know it', async () => {
    const lines: string[] = []
    const script = (knownUser: string, options: { silent?: boolean } = {}): StrictSmtpScript => ({
      keywords: ['AUTH PLAIN SCRAM-SHA-256'],
      authenticate: (line, challenge) => scramServer(knownUser, line, challenge, { lines, ...options }),
    })
    const server = await startStrictSmtp(script('secret'))
    onTestFinished(() => server.close())
    await signIn(server, 'secret')
    expect(lines.join()).not.toContain(Buffer.from('secret').toString('base64').slice(0, 6))
    await expect(signIn(server, 'wrong')).rejects.toMatchObject({ kind: 'auth_expired' })
    server.behave(script('secret', { silent: true }))
    await expect(signIn(server, 'secret')).rejects.toMatchObject({ kind: 'unavailable' })
  })
})

describe.skipIf(!postfixAvailable())('a Postfix that offers nothing else', () => {
  it.each(['SCRAM-SHA-256', 'CRAM-MD5'])(
    'logs in by %s with the password, and reports another one as refused',
    async (mechanisms) => {
      const server = await startPostfix({ password: 'pencil = ,ü', mechanisms })
      onTestFinished(() => server.stop())
      await signIn(server, 'pencil = ,ü')
      await expect(signIn(server, 'wrong')).rejects.toMatchObject({ kind: 'auth_expired' })
    },
  )
})

/** The server's side for a user with this password. `silent`: says that the login succeeded, without proving that it knows the password. */
async function scramServer(
  password: string,
  command: string,
  challenge: (text: string) => Promise<string>,
  { lines, silent = false }: { lines: string[]; silent?: boolean },
): Promise<string> {
  const first = Buffer.from(command.split(' ')[2] ?? '', 'base64').toString()
  const bare = first.slice('n,,'.length)
  const nonce = `${/r=(.*)/.exec(bare)?.[1]}server`
  const salt = Buffer.from('salt')
  const serverFirst = `r=${nonce},s=${salt.toString('base64')},i=4096`
  const final = await challenge(serverFirst)
  lines.push(command, final)
  if (silent) return '235 2.7.0 Welcome'
  const [, withoutProof = '', proof = ''] = /^(.*),p=(.*)$/.exec(final) ?? []
  const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const salted = pbkdf2Sync(password, salt, 4096, 32, 'sha256')
  const message = `${bare},${serverFirst},${withoutProof}`
  const stored = createHash('sha256').update(hmac(salted, 'Client Key')).digest()
  const signature = hmac(stored, message)
  const key = Buffer.from(proof, 'base64').map((byte, index) => byte ^ (signature[index] ?? 0))
  if (!createHash('sha256').update(key).digest().equals(stored)) return '535 5.7.8 Authentication failed'
  lines.push(await challenge(`v=${hmac(hmac(salted, 'Server Key'), message).toString('base64')}`))
  return '235 2.7.0 Welcome'
}
