import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Authority, makeAuthority } from '../../../test/servers/authority.ts'
import { openGuard } from '../../../test/servers/imap-mailbox.ts'
import { makeCertificate } from '../../../test/servers/loopback.ts'
import { type SmtpSinkOptions, startSmtpSink } from '../../../test/servers/smtp.ts'
import type { MailAccess } from '../contract/index.ts'
import { type SmtpDeps, smtpProvider } from './index.ts'

const noCopies = () => {
  throw new Error('nothing is sent')
}

interface SignIn extends Pick<SmtpDeps, 'tlsContext'> {
  security?: 'tls' | 'starttls'
  selfSigned?: boolean
}

async function signIn(server: { host: string; port: number }, { security, selfSigned, ...deps }: SignIn = {}) {
  const provider = smtpProvider({ guard: openGuard, copies: noCopies, ...deps })
  onTestFinished(() => provider.closeConnections())
  const login = { host: server.host, port: server.port, username: 'ada', security: security ?? 'starttls' } as const
  const access: MailAccess = {
    accountId: 'acc_1',
    email: 'ada@acme.example',
    secrets: { password: 'secret' },
    settings: { smtp: login, imap: { ...login, allowSelfSigned: selfSigned ?? false, mailbox: 'INBOX' } },
  }
  await provider.verify(access, new AbortController().signal)
}

describe('a sign-in at an SMTP server names the problem', () => {
  let authority: Authority
  let folder: string
  beforeAll(async () => {
    authority = await makeAuthority()
    folder = await mkdtemp(join(tmpdir(), 'posthorn-smtp-'))
  })
  afterAll(async () => {
    await authority.remove()
    await rm(folder, { recursive: true, force: true })
  })

  async function started(options: SmtpSinkOptions) {
    const server = await startSmtpSink(options)
    onTestFinished(() => server.close())
    return server
  }

  it.each([
    ['certificate_self_signed', undefined, false],
    ['certificate_untrusted', {}, false],
    ['certificate_expired', { isExpired: true }, true],
    ['certificate_wrong_host', { names: 'DNS:mail.example.test' }, true],
  ])('%s, over TLS and STARTTLS', async (problem, issue, isTrusted) => {
    const cert = await (issue === undefined ? makeCertificate(folder) : authority.issue(folder, issue))
    const tls = { cert, key: await readFile(join(folder, 'key.pem'), 'utf8') }
    const trust = isTrusted ? { tlsContext: () => createSecureContext({ ca: authority.certificate }) } : {}
    for (const security of ['tls', 'starttls'] as const) {
      const server = await started({ secure: security === 'tls', tls })
      await expect(signIn(server, { security, ...trust })).rejects.toMatchObject({ kind: 'tls', problem })
    }
  })

  it('starttls_not_offered', async () => {
    const server = await started({ plain: true })
    await expect(signIn(server)).rejects.toMatchObject({ kind: 'tls', problem: 'starttls_not_offered' })
  })

  it('no_password_login', async () => {
    const server = await started({ secure: true, mechanisms: ['XOAUTH2'] })
    const signingIn = signIn(server, { security: 'tls', selfSigned: true })
    await expect(signingIn).rejects.toMatchObject({ kind: 'auth_expired', problem: 'no_password_login' })
  })
})
