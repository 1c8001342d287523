import { createSecureContext } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Authority, makeAuthority } from '../../../../test/servers/authority.ts'
import { type Dovecot, type DovecotOptions, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { imapAccess, openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { listening } from '../../../../test/servers/listener.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import type { ImapSettings, MailAccess } from '../../contract/index.ts'
import { type ImapDeps, imapProvider } from '../provider.ts'

const never = new AbortController().signal

function signIn(access: MailAccess, deps: Partial<ImapDeps> = {}) {
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock, ...deps })
  onTestFinished(() => mail.closeConnections())
  return mail.verify(access, never)
}

function strictAccess(server: Dovecot, changes: Partial<ImapSettings> = {}): MailAccess {
  const access = imapAccess(server, 'ann', 'secret')
  const { imap } = access.settings
  if (imap === undefined) throw new Error('no IMAP settings')
  return { ...access, settings: { imap: { ...imap, allowSelfSigned: false, ...changes } } }
}

describe.skipIf(!dovecotAvailable())('a sign-in at a Dovecot names the problem', () => {
  let authority: Authority
  beforeAll(async () => {
    authority = await makeAuthority()
  })
  afterAll(() => authority.remove())

  async function started(options: DovecotOptions = {}): Promise<Dovecot> {
    const server = await startDovecot(options)
    onTestFinished(() => server.stop())
    await server.addUser('ann', 'secret')
    return server
  }

  const trusting = () => ({ tlsContext: () => createSecureContext({ ca: authority.certificate }) })

  it.each([
    ['certificate_self_signed', undefined, false],
    ['certificate_untrusted', {}, false],
    ['certificate_expired', { isExpired: true }, true],
    ['certificate_wrong_host', { names: 'DNS:mail.example.test' }, true],
  ])('%s, over TLS and STARTTLS', async (problem, issue, isTrusted) => {
    const server = await started(issue && { makeCertificate: (folder) => authority.issue(folder, issue) })
    for (const changes of [{}, { port: server.imapPort, security: 'starttls' }] as const) {
      const signingIn = signIn(strictAccess(server, changes), isTrusted ? trusting() : {})
      await expect(signingIn).rejects.toMatchObject({ kind: 'tls', problem })
    }
  })

  it('not for a certificate of a trusted authority', async () => {
    const server = await started({ makeCertificate: (folder) => authority.issue(folder) })
    expect((await signIn(strictAccess(server), trusting())).folders).not.toEqual([])
  })

  it('starttls_not_offered', async () => {
    const imaps = 'service imap-login {\n  inet_listener imaps {\n    ssl = no\n  }\n}'
    const server = await started({ extraConfig: `ssl = no\n${imaps}` })
    const signingIn = signIn(strictAccess(server, { port: server.imapPort, security: 'starttls' }))
    await expect(signingIn).rejects.toMatchObject({ kind: 'tls', problem: 'starttls_not_offered' })
  })

  it('no_password_login', async () => {
    const server = await started({ extraConfig: 'auth_mechanisms = external\ndisable_plaintext_auth = yes' })
    const refused = { kind: 'auth_expired', problem: 'no_password_login' }
    await expect(signIn(imapAccess(server, 'ann', 'secret'))).rejects.toMatchObject(refused)
  })
})

describe('a sign-in at a server without encryption', () => {
  /** A server that offers no STARTTLS, with the commands that it got. */
  async function started() {
    const commands: string[] = []
    const { port, close } = await listening((socket) => {
      socket.write('* OK ready\r\n')
      socket.on('data', (chunk) => {
        for (const line of String(chunk).trim().split('\r\n')) {
          const [tag, name = ''] = line.split(' ')
          commands.push(name)
          if (name === 'CAPABILITY') socket.write('* CAPABILITY IMAP4rev1 LOGINDISABLED\r\n')
          socket.write(`${tag} OK done\r\n`)
        }
      })
    })
    onTestFinished(close)
    const imap = { host: '127.0.0.1', port, security: 'starttls', username: 'ann', mailbox: 'INBOX' } as const
    const access = (allowPlain: boolean): MailAccess => ({
      accountId: 'acc_ann',
      email: 'ann@example.test',
      secrets: { password: 'secret' },
      settings: { imap: { ...imap, allowSelfSigned: false, allowPlain } },
    })
    return { access, commands }
  }

  it('names starttls_not_offered', async () => {
    const { access, commands } = await started()
    await expect(signIn(access(false))).rejects.toMatchObject({ kind: 'tls', problem: 'starttls_not_offered' })
    expect(commands).not.toContain('LOGIN')
  })

  it('names encryption_required where the user allows plain text and the server does not, and sends no password', async () => {
    const { access, commands } = await started()
    await expect(signIn(access(true))).rejects.toMatchObject({ kind: 'tls', problem: 'encryption_required' })
    expect(commands).not.toContain('LOGIN')
  })
})
