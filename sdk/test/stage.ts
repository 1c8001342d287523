import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Posthorn } from '@posthorn/sdk'
import { eventually } from '../../test/kit/eventually.ts'
import { type ServiceProcess, startServiceProcess } from '../../test/kit/service/process.ts'
import { type Dovecot, startDovecot } from '../../test/servers/dovecot.ts'
import { attachmentMail } from '../../test/servers/messages.ts'
import { type Receiver, startReceiver } from '../../test/servers/receiver.ts'
import { type SmtpSink, startSmtpSink } from '../../test/servers/smtp.ts'

const ADA = 'ada@acme.example'
/** Names her account. */
const USER_ID = 'user-4711'
const PASSWORD = 'correct horse'

/** The built service with Ada's mailbox, which an application uses. */
export interface Stage {
  readonly service: ServiceProcess
  posthorn: Posthorn
  accountId: string
  smtp: SmtpSink
  /** The address of the application. */
  receiver: Receiver
  deliver(subject: string, attachment?: Buffer): Promise<void>
  /** Ends the service and starts it again at the same address. */
  restart(): Promise<void>
  close(): Promise<void>
}

/** @param subjects of the messages in the mailbox, oldest first */
export async function startStage(subjects: readonly string[], env: Record<string, string> = {}): Promise<Stage> {
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-sdk-'))
  const [dovecot, smtp, receiver] = await Promise.all([startDovecot(), startSmtpSink(), startReceiver()])
  await dovecot.addUser(ADA, PASSWORD)
  const deliver = (subject: string, content = Buffer.from('%PDF-1.4')) =>
    dovecot.deliver(
      ADA,
      attachmentMail({ subject, attachments: [{ filename: 'invoice.pdf', contentType: 'application/pdf', content }] }),
    )
  for (const subject of subjects) await deliver(subject)
  let service = await startServiceProcess({ dataDir, env })
  const posthorn = new Posthorn({ baseUrl: service.url, apiKey: service.key })
  const { id: accountId } = await posthorn.accounts.create(mailbox(dovecot, smtp))
  await eventually(async () => {
    const { pagination } = await posthorn.messages.list(accountId, { limit: 1 })
    return pagination.total === subjects.length
  })
  return {
    get service() {
      return service
    },
    posthorn,
    accountId,
    smtp,
    receiver,
    deliver,
    async restart() {
      await service.kill()
      service = await startServiceProcess({ dataDir, env, port: service.port })
    },
    async close() {
      await service.stop()
      await Promise.all([dovecot.stop(), smtp.close(), receiver.close()])
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

function mailbox(dovecot: Dovecot, smtp: SmtpSink) {
  return {
    provider: 'imap',
    email: ADA,
    customUserId: USER_ID,
    username: ADA,
    password: PASSWORD,
    host: dovecot.host,
    port: dovecot.imapsPort,
    allowSelfSigned: true,
    smtpHost: smtp.host,
    smtpPort: smtp.port,
    smtpSecure: false,
  } as const
}
