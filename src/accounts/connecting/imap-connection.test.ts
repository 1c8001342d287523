import { describe, expect, it } from 'vitest'
import { fc } from '../../../test/kit/random/random.ts'
import { ProviderError } from '../../providers/contract/index.ts'
import { type ImapFields, VerificationLimit } from '../index.ts'
import { formPortErrors, verifyImap } from './imap-check.ts'
import { parseImapConnection } from './imap-connection.ts'

const required = { email: 'ada@example.com', host: 'imap.example.com', username: 'ada', password: 'secret' }

function connection(fields: ImapFields = {}) {
  const parsed = parseImapConnection({ ...required, ...fields })
  if (parsed.connection === undefined) throw new Error(JSON.stringify(parsed.errors))
  return parsed.connection
}

function errors(fields: ImapFields): string[] {
  return parseImapConnection({ ...required, ...fields }).errors.map((error) => `${error.path} ${error.message}`)
}

describe('the connection fields', () => {
  it('require an address, a host, a username and a password; the rest has defaults', () => {
    expect(connection()).toEqual({
      email: 'ada@example.com',
      providerUser: '["imap.example.com","ada","INBOX"]',
      settings: {
        imap: {
          host: 'imap.example.com',
          port: 993,
          username: 'ada',
          security: 'tls',
          allowSelfSigned: false,
          mailbox: 'INBOX',
        },
      },
      secrets: { password: 'secret' },
    })
    expect(parseImapConnection({}).errors.map((error) => error.path)).toEqual([
      'body.email',
      'body.host',
      'body.username',
      'body.password',
    ])
    const withoutEmail = { host: 'h', username: 'u', password: 'p' }
    expect(parseImapConnection(withoutEmail, { optional: ['email'] }).errors).toEqual([])
  })

  it.each([
    [{ port: '143' }, 143, 'starttls'],
    [{ port: 143 }, 143, 'starttls'],
    [{ port: 143, secure: 'true' }, 143, 'tls'],
    [{ port: '10993' }, 10993, 'tls'],
    [{ port: '10143', secure: false }, 10143, 'starttls'],
    [{ port: '', secure: '' }, 993, 'tls'],
    [{ secure: 'on' }, 993, 'tls'],
    [{ secure: 'false' }, 993, 'starttls'],
  ])('%j means port %i with %s', (fields, port, security) => {
    expect(connection(fields).settings.imap).toMatchObject({ port, security })
  })

  it('allow plain text only when secure is explicitly false', () => {
    expect(connection({ port: 143, secure: false }).settings.imap.allowPlain).toBe(true)
    for (const fields of [{}, { port: 143 }, { port: 143, secure: '' }, { secure: true }]) {
      expect(connection(fields).settings.imap).not.toHaveProperty('allowPlain')
    }
  })

  it('compares mailboxes by meaning, not by spelling', () => {
    const plain = connection().providerUser
    expect(connection({ host: ' IMAP.Example.COM. ', mailbox: 'inbox', port: 143 }).providerUser).toBe(plain)
    expect(connection({ mailbox: 'Support' }).providerUser).not.toBe(plain)
    expect(connection({ username: 'Ada' }).providerUser).not.toBe(plain)
    expect(connection({ host: 'bücher.example' }).settings.imap.host).toBe('xn--bcher-kva.example')
    expect(connection({ host: '[::1]' }).settings.imap.host).toBe('::1')
    expect(connection({ host: '2001:DB8::1' }).settings.imap.host).toBe('2001:db8::1')
  })

  it('keep the password as it was typed', () => {
    expect(connection({ password: ' with spaces ', allowSelfSigned: 'true' })).toMatchObject({
      secrets: { password: ' with spaces ' },
      settings: { imap: { allowSelfSigned: true } },
    })
  })

  it.each([
    [{ email: 'nobody' }, 'body.email is not an email address'],
    [{ host: 'imap.example.com:993' }, 'body.host must be a host name or an address, without a port or a path'],
    [{ host: 'https://imap.example.com/' }, 'body.host must be a host name or an address, without a port or a path'],
    [{ host: 'two words' }, 'body.host must be a host name or an address, without a port or a path'],
    [{ port: 'imap' }, 'body.port must be a number from 1 to 65535'],
    [{ port: 0 }, 'body.port must be a number from 1 to 65535'],
    [{ port: 65_536 }, 'body.port must be a number from 1 to 65535'],
    [{ port: 99.5 }, 'body.port must be a number from 1 to 65535'],
    [{ secure: 'maybe' }, 'body.secure must be true or false'],
    [{ username: 'ada\r\nLOGOUT' }, 'body.username must not contain control characters'],
    [{ username: 'a'.repeat(2000) }, 'body.username must not be longer than 1024 characters'],
    [{ mailbox: ['INBOX'] }, 'body.mailbox must be a string'],
    [{ smtpPort: '-1' }, 'body.smtpPort must be a number from 1 to 65535'],
    [{ caldavUrl: 'ftp://x' }, 'body.caldavUrl must be an http or https URL without a username'],
  ])('%j: %s', (fields, error) => {
    expect(errors(fields)).toEqual([error])
  })

  it('contain only the given SMTP and CalDAV values', () => {
    expect(connection({ smtpHost: 'smtp.example.com' }).settings.smtp).toEqual({ host: 'smtp.example.com' })
    expect(connection({ smtpPort: 465 }).settings.smtp).toEqual({ port: 465, security: 'tls' })
    const plain = { port: 587, security: 'starttls', allowPlain: true }
    expect(connection({ smtpSecure: 'false' }).settings.smtp).toEqual(plain)
    const all = connection({
      smtpHost: 'smtp.example.com',
      smtpPort: '2525',
      smtpUsername: 'sender',
      smtpPassword: 'smtp secret',
      caldavUrl: 'https://dav.example.com/',
      caldavUsername: 'cal',
      caldavPassword: 'dav secret',
    })
    expect(all.settings.smtp).toEqual({
      host: 'smtp.example.com',
      port: 2525,
      security: 'starttls',
      username: 'sender',
    })
    expect(all.settings.caldav).toEqual({ url: 'https://dav.example.com/', username: 'cal' })
    expect(all.secrets).toEqual({ password: 'secret', smtpPassword: 'smtp secret', caldavPassword: 'dav secret' })
    expect(JSON.stringify(all.settings)).not.toContain('secret')
  })

  it('are parsed or rejected, but never throw, for any content', () => {
    const anything = fc.dictionary(
      fc.constantFrom('email', 'host', 'port', 'secure', 'mailbox', 'caldavUrl'),
      fc.anything(),
    )
    fc.assert(
      fc.property(anything, (fields) => {
        const { connection: read, errors: found } = parseImapConnection({ ...required, ...fields })
        expect(read === undefined).toBe(found.length > 0)
      }),
    )
  })
})

describe('the ports allowed in a public form', () => {
  it('are those of FORM_PORTS, on every host', () => {
    const mailPorts = [143, 993, 587, 443]
    expect(formPortErrors(connection({ port: 143, smtpPort: 587 }), mailPorts)).toEqual([])
    for (const host of ['imap.example.com', 'localhost']) {
      const scan = connection({ host, port: 22, smtpPort: 6379, caldavUrl: 'http://dav.example.com' })
      const errors = formPortErrors(scan, mailPorts)
      expect(errors.map((error) => error.path)).toEqual(['body.port', 'body.smtpPort', 'body.caldavUrl'])
      expect(formPortErrors(scan, 'any')).toEqual([])
    }
  })
})

describe('checking the credentials at the server', () => {
  const verifications = new VerificationLimit()
  const verify = (error: unknown) =>
    verifyImap({ mail: { verify: () => Promise.reject(error) }, verifications }, connection())

  it.each([
    [new ProviderError('auth_expired', 'refused'), 'imap_auth_failed'],
    [new ProviderError('tls', 'self-signed'), 'imap_tls'],
    [new ProviderError('unavailable', 'refused'), 'imap_unreachable'],
    [new ProviderError('rate_limited', 'too many connections'), 'imap_unreachable'],
    [new ProviderError('not_found', 'no such folder'), 'validation_failed'],
  ])('reports %s as %s', async (error, code) => {
    await expect(verify(error)).rejects.toMatchObject({ code, status: 400 })
  })

  it('rethrows a programming error, and gives up on a silent server', async () => {
    await expect(verify(new TypeError('ours'))).rejects.toBeInstanceOf(TypeError)
    const signals: AbortSignal[] = []
    const silent = (_access: unknown, signal: AbortSignal) => {
      signals.push(signal)
      return new Promise<never>(() => {})
    }
    const deps = { mail: { verify: silent }, verifications }
    await expect(verifyImap({ ...deps, timeoutMs: 20 }, connection())).rejects.toMatchObject({
      code: 'imap_unreachable',
    })
    expect(signals[0]?.aborted).toBe(true)
  })
})
