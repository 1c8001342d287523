import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { HELLO, type SendingApi, sendingApi } from '../../../test/kit/messages/sending-api.ts'
import { type Service, startService } from '../../../test/kit/service/service.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { otherClient } from '../../../test/servers/imap-mailbox.ts'
import { type SmtpSink, startSmtpSink } from '../../../test/servers/smtp.ts'

/** Mailboxes with room for one message. */
const QUOTA = `
mail_plugins = quota
plugin {
  quota = count:User quota
  quota_rule = *:messages=1
  quota_vsizes = yes
}`

describe.skipIf(!dovecotAvailable())('a sent message whose copy the mailbox refuses', () => {
  let server: Dovecot
  let smtp: SmtpSink
  let service: Service
  let connected: SendingApi['connected']

  beforeAll(async () => {
    ;[server, smtp, service] = await Promise.all([
      startDovecot({ extraConfig: QUOTA }),
      startSmtpSink(),
      startService(),
    ])
    ;({ connected } = sendingApi({ server, smtp, service }))
  })
  afterAll(async () => {
    await service.stop()
    await Promise.all([server.stop(), smtp.close()])
  })

  it('says why, until the copy is saved', async () => {
    const { user, send, outbox, becomes } = await connected()
    await server.deliver(user, 'From: eve@example.com\r\nSubject: Full\r\n\r\nx\r\n')
    const { outboxId } = (await send(HELLO)).body
    expect((await becomes(outboxId, 'sent')).error).toBeNull()
    await eventually(async () => {
      expect((await outbox(outboxId)).copyError).toEqual({
        message: expect.stringContaining('the mailbox is full'),
        nextAttemptAt: expect.any(String),
      })
    })

    await otherClient(server, user, 'one', async (client) => {
      await client.mailboxOpen('INBOX')
      await client.messageDelete('1:*')
    })
    await eventually(async () => expect((await outbox(outboxId)).copyError).toBeNull())
    const subjects = await otherClient(server, user, 'one', async (client) => {
      await client.mailboxOpen('Sent')
      return (await client.fetchAll('1:*', { envelope: true })).map(({ envelope }) => envelope?.subject)
    })
    expect(subjects).toEqual(['Hello'])
  })
})
