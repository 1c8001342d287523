import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { type Api, api } from '../kit/http/http.ts'
import { spentCpuMs } from '../kit/measure/event-loop.ts'
import { type Service, startService } from '../kit/service/service.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../servers/dovecot.ts'

const CRLF = '\r\n'
const nested = (depth: number) =>
  Array.from({ length: depth }, (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`).join('')

/** Headers and body of messages made to exhaust the time or memory of a reader. */
const MESSAGES: [name: string, header: string, body: string][] = [
  [
    'a line of a million spaces',
    'Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n',
    `${' '.repeat(1_000_000)}x`,
  ],
  ['a hundred thousand unclosed brackets', `In-Reply-To: ${'<'.repeat(100_000)}\r\n`, 'x'],
  ['nothing but headers', Array.from({ length: 50_000 }, (_, i) => `X-${i}: v\r\n`).join(''), 'x'],
  [
    'a million empty lines before three thousand nested parts',
    'Content-Type: multipart/mixed; boundary=z\r\n',
    `--z\r\nContent-Type: text/plain\r\n\r\n${CRLF.repeat(1_000_000)}--z\r\n${nested(3000)}`,
  ],
  [
    'nine thousand parts',
    'Content-Type: multipart/mixed; boundary=q\r\n',
    Array.from({ length: 9000 }, (_, i) => `--q\r\nContent-Type: text/html; name="f${i}"\r\n\r\nx\r\n`).join(''),
  ],
]

describe.skipIf(!dovecotAvailable())('a hostile message', () => {
  let dovecot: Dovecot
  let service: Service
  let owner: Api
  let accountId: string
  beforeAll(async () => {
    ;[dovecot, service] = await Promise.all([startDovecot(), startService()])
    await dovecot.addUser('ada', 'secret')
    owner = api(service.url, service.key)
    const { host, imapsPort: port } = dovecot
    const access = { host, port, allowSelfSigned: true, username: 'ada', password: 'secret' }
    accountId = (await owner.post('/accounts', { provider: 'imap', email: 'ada@example.com', ...access })).json.id
    await eventually(async () => expect((await owner.get(`/accounts/${accountId}`)).json.status).toBe('connected'))
  })
  afterAll(async () => {
    await service?.stop()
    await dovecot?.stop()
  })

  it.each(MESSAGES)('%s: is listed and read in bounded time and memory', async (name, header, body) => {
    const before = process.memoryUsage().rss
    await dovecot.deliver('ada', `Subject: ${name}\r\n${header}\r\n${body}\r\n`)
    const list = `/accounts/${accountId}/messages`
    const message = await eventually(async () => {
      const [newest] = (await owner.get(`${list}?limit=1`)).json.messages
      expect(newest?.subject).toBe(name)
      return newest
    })
    const spentMs = await spentCpuMs(async () => {
      expect((await owner.get(`${list}/${message.id}`)).status).toBe(200)
    })
    expect(spentMs).toBeLessThan(5000)
    expect(process.memoryUsage().rss - before).toBeLessThan(1024 ** 3)
  })
})
