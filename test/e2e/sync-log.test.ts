import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { databases } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { type ServiceProcess, startServiceProcess } from '../kit/service/process.ts'
import { client } from '../scenarios/client.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../servers/dovecot.ts'
import { type Collector, startCollector } from '../servers/otlp/collector.ts'
import { type Receiver, startReceiver } from '../servers/receiver.ts'
import { startSmtpSink } from '../servers/smtp.ts'

const SECRETS = {
  mailboxPassword: 'planted mailbox-pässword 8841',
  wrongPassword: 'planted-wrong-password-7713',
  smtpPassword: 'planted-smtp-password-5529',
  webhookSecret: `whsec_${Buffer.from('planted-webhook-secret-3370').toString('base64')}`,
  headerValue: 'planted-header-value-9906',
  receiverAnswer: 'planted-receiver-answer-1184',
  otlpToken: 'planted-otlp-token-6612',
  collectorPassword: 'planted-collector-password-4405',
  licenceKey: 'planted-licence-key-2298.abc.def',
  wrongKey: 'planted-wrong-api-key-8034',
  body: 'planted-message-body-5571',
  subject: 'planted-subject-6623',
}

interface Entry {
  level: string
  message: string
  accountId: string | null
  provider: string | null
  operation: string
  durationMs: number | null
  metadata: Record<string, unknown> | null
}

describe.skipIf(!dovecotAvailable())('the log of a mailbox from its connection to its deletion', () => {
  const open = databases('sqlite')
  let dovecot: Dovecot
  let receiver: Receiver
  let collector: Collector
  let service: ServiceProcess
  let dataDir: string
  beforeEach(async () => {
    const closing = async <T>(opening: Promise<T>, close: (part: T) => Promise<unknown>) => {
      const part = await opening
      onTestFinished(() => close(part).then(() => undefined))
      return part
    }
    dovecot = await closing(startDovecot(), (part) => part.stop())
    receiver = await closing(startReceiver(), (part) => part.close())
    collector = await closing(startCollector(), (part) => part.close())
    const place = await open.place()
    dataDir = place.dataDir
    const address = collector.url.replace('http://', `http://ops:${SECRETS.collectorPassword}@`)
    service = await closing(
      startServiceProcess({
        ...place,
        env: {
          LOG_LEVEL: 'trace',
          OTEL_LOGS_ENABLED: 'true',
          OTEL_EXPORTER_OTLP_ENDPOINT: address,
          OTEL_LOGS_HEADERS: `authorization=Bearer%20${SECRETS.otlpToken}`,
          OTEL_LOGS_SCHEDULED_DELAY_MS: '50',
          SERVICE_LICENSE_KEY: SECRETS.licenceKey,
        },
      }),
      (part) => part.stop(),
    )
  })

  it('has one entry for each thing that happened, on every output, and no secret anywhere', async () => {
    const smtp = await startSmtpSink()
    onTestFinished(() => smtp.close())
    smtp.behave({ password: 'another', refusal: (password) => `5.7.8 wrong password ${password}` })
    const user = 'ada@example.com'
    await dovecot.addUser(user, SECRETS.mailboxPassword)
    const api = client(service.url, service.key)
    const responses: string[] = []
    const send = async (method: string, path: string, body?: unknown, key = service.key) => {
      const response = await fetch(service.url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      // The secret of an endpoint is shown once, when it is made.
      if (path !== '/webhooks/endpoints') responses.push(`${method} ${path} ${text}`)
      return { status: response.status, json: JSON.parse(text) }
    }

    receiver.always((request) => ({
      status: 500,
      body: `${SECRETS.receiverAnswer} ${JSON.stringify(request.headers)} ${request.body}`,
    }))
    const endpoint = await send('POST', '/webhooks/endpoints', {
      url: receiver.url,
      eventTypes: ['*'],
      secret: SECRETS.webhookSecret,
      retryCount: 1,
      retryDelayMs: 0,
      headers: { 'x-application-key': SECRETS.headerValue },
    })
    expect(endpoint.status).toBe(201)
    expect((await send('GET', '/accounts', undefined, SECRETS.wrongKey)).status).toBe(401)

    const imap = {
      provider: 'imap',
      email: user,
      username: user,
      host: dovecot.host,
      port: dovecot.imapsPort,
      secure: true,
      allowSelfSigned: true,
    }
    expect((await send('POST', '/accounts', { ...imap, password: SECRETS.wrongPassword })).status).toBe(400)
    expect(
      (await send('POST', '/accounts', { ...imap, host: '10.0.0.1', password: SECRETS.wrongPassword })).status,
    ).toBe(400)
    const refusedAtSmtp = await send('POST', '/accounts', {
      ...imap,
      password: SECRETS.mailboxPassword,
      smtpHost: smtp.host,
      smtpPort: smtp.port,
      smtpSecure: false,
      smtpUsername: user,
      smtpPassword: SECRETS.smtpPassword,
    })
    expect(refusedAtSmtp.status).toBe(400)
    const { json: account } = await send('POST', '/accounts', { ...imap, password: SECRETS.mailboxPassword })
    const status = async () => (await api.call<{ status: string }>('GET', `/accounts/${account.id}`)).status
    await eventually(async () => (await status()) === 'connected')

    const messages = Array.from({ length: 300 }, (_, i) =>
      Buffer.from(
        `From: Bo <bo@example.com>\r\nTo: ${user}\r\nSubject: ${SECRETS.subject} ${i}\r\nMessage-ID: <${i}@x>\r\n\r\n${SECRETS.body}\r\n`,
      ),
    )
    await dovecot.deliverMany(user, messages)
    const entries = async (query: string): Promise<Entry[]> => {
      const { logs } = await api.call<{ logs: Entry[] }>('GET', `/logs?limit=200&${query}`)
      return logs
    }
    const ofAccount = (operation: string) => entries(`accountId=${account.id}&operation=${operation}`)
    const added = (list: Entry[]) => list.reduce((sum, { metadata }) => sum + Number(metadata?.added), 0)
    await eventually(async () => added(await ofAccount('sync.account')) === 300)
    const runs = await ofAccount('sync.account')
    // A burst is a few entries, and a mailbox without changes writes none.
    expect(runs.length).toBeLessThanOrEqual(30)
    for (const entry of runs) {
      expect(entry).toMatchObject({ level: 'info', provider: 'imap', durationMs: expect.any(Number) })
      expect(entry.metadata).toEqual({ added: expect.any(Number), updated: expect.any(Number), deleted: 0 })
    }

    await dovecot.kick(user)
    await eventually(async () => (await ofAccount('sync.disconnect')).length > 0)
    await eventually(async () => (await ofAccount('sync.connect')).length > 1)
    await send('POST', `/accounts/${account.id}/pause`)
    await send('POST', `/accounts/${account.id}/resume`)
    await dovecot.setPassword(user, 'changed elsewhere')
    await eventually(async () => {
      // Whether the service has reconnected after the pause, and with which password, is a race.
      await dovecot.doveadm('kick', user).catch(() => '')
      return (await ofAccount('sync.refuse')).length > 0
    })
    await send('POST', `/accounts/${account.id}/sync`, undefined, `${service.key}x`)
    await send('DELETE', `/accounts/${account.id}`)
    await eventually(async () => (await ofAccount('accounts.erase')).length === 1)
    await eventually(async () => (await entries('operation=webhooks.deliver&level=warn')).length > 0)

    const expectOne = async (query: string, wanted: Partial<Entry>) => {
      const found = await entries(query)
      expect([query, found.length > 0]).toEqual([query, true])
      expect(found[0]).toMatchObject(wanted)
    }
    const about = `accountId=${account.id}`
    await expectOne(`${about}&operation=accounts.connect`, { level: 'info', provider: 'imap' })
    await expectOne(`${about}&operation=accounts.pause`, { level: 'info' })
    await expectOne(`${about}&operation=accounts.resume`, { level: 'info' })
    await expectOne(`${about}&operation=accounts.delete`, { level: 'info', provider: 'imap' })
    await expectOne(`${about}&operation=sync.connect`, { level: 'info', durationMs: expect.any(Number) })
    await expectOne(`${about}&operation=sync.refuse`, {
      level: 'warn',
      metadata: expect.objectContaining({ kind: 'auth_expired' }),
    })
    await expectOne(`${about}&operation=accounts.erase`, { metadata: { rows: expect.any(Number) } })
    await expectOne('operation=webhooks.retry&level=info', {
      metadata: expect.objectContaining({ endpointId: endpoint.json.id, status: 500 }),
    })
    await expectOne('operation=webhooks.circuit&level=warn', {})
    await expectOne('operation=net.refuse', { level: 'warn', message: expect.stringContaining('PRIVATE_TARGETS') })
    await expectOne('operation=accounts.create', { level: 'info', provider: 'imap' })
    await expectOne('operation=accounts.ownership', {
      metadata: expect.objectContaining({ owned: expect.any(Number) }),
    })

    await service.stop()
    const exported = collector.records.map(({ attributes }) => attributes['log.record.uid'])
    const printed = service
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line): { id: string; operation: string | null } => JSON.parse(line))
    // Every printed record was exported too, up to the last one.
    expect(printed.map(({ id }) => id).filter((id) => !exported.includes(id))).toEqual([])
    expect(printed.at(-1)?.operation).toBe('service.stop')
    expect(collector.batches[0]?.headers.authorization).toBeDefined()
    expect(collector.problems).toEqual([])

    const files = (await readdir(dataDir)).filter((file) => file.startsWith('posthorn.db'))
    const stored = await Promise.all(files.map((file) => readFile(join(dataDir, file), 'latin1')))
    const outputs = {
      stdout: service.output(),
      otlp: JSON.stringify(collector.records),
      resource: JSON.stringify(collector.batches.map(({ resource, scope }) => [resource, scope])),
      responses: responses.join('\n'),
    }
    const planted = { ...SECRETS, apiKey: service.key }
    const found = Object.entries(outputs).flatMap(([where, text]) =>
      Object.entries(planted).flatMap(([what, secret]) =>
        spellings(secret).some((spelled) => text.includes(spelled)) ? [`${what} in ${where}`] : [],
      ),
    )
    // Responses of receivers are part of deliveries, and messages of lists; neither was requested.
    expect(found).toEqual([])
    // The receiver of this test repeats the header, and its responses are stored.
    const readable = Object.entries(planted).filter(([what, secret]) =>
      ['mailboxPassword', 'smtpPassword', 'webhookSecret'].includes(what)
        ? stored.some((text) => text.includes(secret))
        : false,
    )
    expect(readable).toEqual([])
  })
})

/** The value as text, in JSON, in a URL, and in base64 at each of the three alignments. */
function spellings(value: string): string[] {
  const bytes = Buffer.from(value)
  const inBase64 = [0, 1, 2].map((skipped) => {
    const encoded = bytes.subarray(skipped).toString('base64')
    return encoded.slice(0, encoded.length - 4)
  })
  return [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value), ...inBase64]
}
