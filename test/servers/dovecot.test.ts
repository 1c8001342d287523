import { ImapFlow } from 'imapflow'
import { afterEach, describe, expect, it } from 'vitest'
import { type Dovecot, type DovecotOptions, dovecotAvailable, startDovecot } from './dovecot.ts'

describe.skipIf(!dovecotAvailable())('the test Dovecot', () => {
  const open: Dovecot[] = []
  afterEach(async () => {
    for (const server of open.splice(0)) await server.stop()
  })
  async function started(options?: DovecotOptions) {
    const server = await startDovecot(options)
    open.push(server)
    return server
  }
  async function connected(server: Dovecot, user: string, pass: string) {
    const client = new ImapFlow({
      host: server.host,
      port: server.imapsPort,
      secure: true,
      tls: { ca: server.certificate, servername: 'localhost' },
      auth: { user, pass },
      logger: false,
    })
    await client.connect()
    return client
  }

  it('accepts messages and serves them over TLS with a valid certificate', async () => {
    const server = await started()
    await server.addUser('ann@example.test', 'one')
    await server.deliver('ann@example.test', 'Subject: hello\r\n\r\nworld\r\n')
    await server.deliver('ann@example.test', 'Subject: old\r\n\r\nx\r\n', {
      folder: 'Größe/日本',
      date: new Date('2020-02-03T04:05:06Z'),
    })
    const client = await connected(server, 'ann@example.test', 'one')
    expect(await client.status('INBOX', { messages: true })).toMatchObject({ messages: 1 })
    await client.mailboxOpen('Größe/日本')
    expect(await client.fetchOne('1', { internalDate: true })).toMatchObject({
      internalDate: new Date('2020-02-03T04:05:06Z'),
    })
    await client.logout()
  })

  it('applies a changed password at once and rejects the old one', async () => {
    const server = await started()
    await server.addUser('ann', 'one')
    await (await connected(server, 'ann', 'one')).logout()
    await server.setPassword('ann', 'two')
    await expect(connected(server, 'ann', 'one')).rejects.toMatchObject({ authenticationFailed: true })
    await (await connected(server, 'ann', 'two')).logout()
  })

  it('hides capabilities and uses the given prefix and separator', async () => {
    const server = await started({ hideCapabilities: ['IDLE', 'QRESYNC'], prefix: 'INBOX.', separator: '.' })
    await server.addUser('ann', 'one')
    const client = await connected(server, 'ann', 'one')
    expect(client.capabilities.has('IDLE')).toBe(false)
    expect(client.capabilities.has('CONDSTORE')).toBe(true)
    expect((await client.list()).map((folder) => folder.path)).toContain('INBOX.Sent')
    await client.logout()
  })

  it('keeps users and messages over a restart', async () => {
    const server = await started()
    await server.addUser('ann', 'one')
    await server.deliverMany('ann', [Buffer.from('Subject: 1\n\na'), Buffer.from('Subject: 2\n\n.b\n.\n')])
    await server.restart()
    const client = await connected(server, 'ann', 'one')
    expect(await client.status('INBOX', { messages: true })).toMatchObject({ messages: 2 })
    await client.logout()
    expect(await server.doveadm('mailbox', 'list', '-u', 'ann')).toContain('INBOX')
  })
})
