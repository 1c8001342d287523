import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { type Api, api } from '../kit/http/http.ts'
import { type ServiceProcess, startServiceProcess } from '../kit/service/process.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../servers/dovecot.ts'
import { attachmentMail } from '../servers/messages.ts'
import { type SmtpSink, startSmtpSink } from '../servers/smtp.ts'

const ADA = 'ada@acme.example'
const PASSWORD = 'correct horse'

const blocks = (guide: string) =>
  [...readFileSync(`docs/${guide}.md`, 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text)

/** The first block of the guide only names the variables. */
const [VARIABLES = '', ...READING] = blocks('messages')
const SENDING = blocks('sending')

describe.skipIf(!dovecotAvailable())('the commands of the guides for messages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-guides-'))
  let dovecot: Dovecot
  let smtp: SmtpSink
  let service: ServiceProcess
  let owner: Api
  let account: string
  let message: { id: string; attachments: { id: string }[] }
  beforeAll(async () => {
    const servers = await Promise.all([startDovecot(), startSmtpSink()])
    dovecot = servers[0]
    smtp = servers[1]
    await dovecot.addUser(ADA, PASSWORD)
    const attachments = [{ filename: 'invoice.pdf', contentType: 'application/pdf', content: Buffer.from('%PDF-1.4') }]
    await dovecot.deliver(ADA, attachmentMail({ subject: 'Invoice', attachments }))
    service = await startServiceProcess({ dataDir: join(folder, 'data') })
    owner = api(service.url, service.key)
    const created = await owner.post('/accounts', {
      provider: 'imap',
      email: ADA,
      username: ADA,
      password: PASSWORD,
      host: dovecot.host,
      port: dovecot.imapsPort,
      allowSelfSigned: true,
      smtpHost: smtp.host,
      smtpPort: smtp.port,
      smtpSecure: false,
    })
    account = created.json.id
    message = await eventually(async () => (await owner.get(`/accounts/${account}/messages`)).json.messages[0] ?? false)
    writeFileSync(join(folder, 'contract.pdf'), '%PDF-1.4')
    writeFileSync(join(folder, '.curlrc'), 'silent\nshow-error\nmax-time = 60\nwrite-out = "\\n%{http_code}\\n"\n')
  })
  afterAll(async () => {
    await service?.stop()
    await dovecot?.stop()
    await smtp?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Runs a block as it is. Returns the lines that curl printed. */
  async function run(block: string, variables: Record<string, string> = {}): Promise<string[]> {
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      POSTHORN: service.url,
      KEY: service.key,
      ACCOUNT: account,
      MESSAGE: message.id,
      ATTACHMENT: message.attachments[0]?.id ?? '',
      ...variables,
    }
    const { stdout } = await promisify(execFile)('bash', ['-euc', block], { cwd: folder, env })
    return stdout.trim().split('\n')
  }

  it('begin with their variables', () => {
    expect(VARIABLES.match(/^\w+(?==)/gm)).toEqual(['POSTHORN', 'KEY', 'ACCOUNT'])
    expect([READING.length, SENDING.length]).toEqual([6, 5])
  })

  it('choose folders, read, download and change a message', async () => {
    const [list = '', choose = '', read = '', download = '', move = '', batch = ''] = READING
    expect(JSON.parse((await run(list))[0] ?? '').messages).toHaveLength(1)
    expect(JSON.parse((await run(choose))[0] ?? '').folders).toHaveLength(4)
    expect(JSON.parse((await run(read))[0] ?? '')).toMatchObject({ id: message.id, subject: 'Invoice' })
    expect((await run(download)).filter((line) => line !== '')).toEqual(['200', '200'])
    expect(readFileSync(join(folder, 'invoice.pdf'), 'utf8')).toBe('%PDF-1.4')
    const [body = '', status] = await run(batch)
    expect([status, JSON.parse(body)]).toEqual(['200', { results: [{ id: message.id, success: true }] }])
    expect(JSON.parse((await run(move))[0] ?? '')).toMatchObject({ unread: false, folder: 'Archive' })
  })

  it('send messages with and without files once, show the outbox, and save a draft', async () => {
    const [send = '', inJson = '', asForm = '', outbox = '', draft = ''] = SENDING
    const results = []
    for (const block of [send, send, inJson, asForm]) {
      const [body = '', status] = await run(block)
      expect([status, body]).toEqual(['200', expect.stringContaining('outboxId')])
      results.push(JSON.parse(body).outboxId)
    }
    expect(results[1]).toBe(results[0])
    await eventually(() => expect(smtp.messages.length).toBe(3))
    const [shown = ''] = await run(outbox, { OUTBOX: results[0] })
    expect(JSON.parse(shown)).toMatchObject({ id: results[0], subject: 'Your order' })
    expect(JSON.parse((await run(draft))[0] ?? '')).toMatchObject({ subject: 'Offer', version: 1 })
  })
})
