import { createSecureContext } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Authority, makeAuthority } from '../../../test/servers/authority.ts'
import { openGuard } from '../../../test/servers/imap-mailbox.ts'
import { eximAvailable, startExim } from '../../../test/servers/unpacked/exim.ts'
import { postfixAvailable, startPostfix } from '../../../test/servers/unpacked/postfix.ts'
import type { SubmissionOptions, SubmissionServer } from '../../../test/servers/unpacked/submission-server.ts'
import type { MailAccess } from '../contract/index.ts'
import { smtpProvider } from './index.ts'

const noCopies = () => {
  throw new Error('nothing is sent')
}

interface SignIn {
  security?: 'tls' | 'starttls'
  password?: string
  /** PEM of an authority. */
  trusted?: string
  allowSelfSigned?: boolean
}

async function signIn(server: { host: string; port: number }, options: SignIn = {}): Promise<void> {
  const { security = 'starttls', password = 'secret', trusted, allowSelfSigned = false } = options
  const trust = trusted === undefined ? {} : { tlsContext: () => createSecureContext({ ca: trusted }) }
  const provider = smtpProvider({ guard: openGuard, copies: noCopies, ...trust })
  onTestFinished(() => provider.closeConnections())
  const login = { host: server.host, port: server.port, username: 'ada', security }
  const access: MailAccess = {
    accountId: 'acc_1',
    email: 'ada@acme.example',
    secrets: { password },
    settings: { smtp: login, imap: { ...login, allowSelfSigned, mailbox: 'INBOX' } },
  }
  await provider.verify(access, new AbortController().signal)
}

const servers: [string, () => boolean, (options: SubmissionOptions) => Promise<SubmissionServer>][] = [
  ['Exim', eximAvailable, startExim],
  ['Postfix', postfixAvailable, startPostfix],
]

for (const [name, isAvailable, start] of servers) {
  describe.skipIf(!isAvailable())(`a sign-in at ${name}`, () => {
    let authority: Authority
    beforeAll(async () => {
      authority = await makeAuthority()
    })
    afterAll(() => authority.remove())

    async function started(options: SubmissionOptions = {}): Promise<SubmissionServer> {
      const server = await start(options)
      onTestFinished(() => server.stop())
      return server
    }

    it.each([
      ['certificate_self_signed', undefined, false],
      ['certificate_untrusted', {}, false],
      ['certificate_expired', { isExpired: true }, true],
      ['certificate_wrong_host', { names: 'DNS:mail.example.test' }, true],
    ])('names %s', async (problem, issue, isTrusted) => {
      const server = await started(issue && { makeCertificate: (folder) => authority.issue(folder, issue) })
      const trust = isTrusted ? { trusted: authority.certificate } : {}
      await expect(signIn(server, trust)).rejects.toMatchObject({ kind: 'tls', problem })
    })

    it('names starttls_not_offered', async () => {
      const server = await started({ offersStartTls: false })
      await expect(signIn(server)).rejects.toMatchObject({ kind: 'tls', problem: 'starttls_not_offered' })
    })

    it('names a wrong password, and a port that needs STARTTLS', async () => {
      const server = await started()
      await signIn(server, { allowSelfSigned: true })
      const wrong = signIn(server, { allowSelfSigned: true, password: 'wrong' })
      await expect(wrong).rejects.toMatchObject({ kind: 'auth_expired', problem: undefined })
      await expect(signIn(server, { security: 'tls' })).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining('the server does not speak TLS on this port'),
      })
    })
  })
}

describe.skipIf(!postfixAvailable())('a sign-in at a Postfix that offers no mechanism for a password', () => {
  it('names no_password_login, whatever the password is', async () => {
    const server = await startPostfix({ mechanisms: 'DIGEST-MD5' })
    onTestFinished(() => server.stop())
    await expect(signIn(server, { allowSelfSigned: true })).rejects.toMatchObject({
      kind: 'auth_expired',
      problem: 'no_password_login',
    })
  })
})
