import { expect, it, onTestFinished } from 'vitest'
import {
  fieldValue,
  type HostedOptions,
  IMAP_FIELDS,
  imapForm,
  localGuard,
  serveHosted,
} from '../../../../test/kit/accounts/hosted.ts'
import { describeOneDatabase } from '../../../../test/kit/database/database.ts'
import { freePort } from '../../../../test/servers/free-port.ts'
import { listening } from '../../../../test/servers/listener.ts'
import { startSmtpSink } from '../../../../test/servers/smtp.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { smtpProvider } from '../../../providers/smtp/index.ts'

const PATH = '/auth/authorize/imap'
const noCopies = () => {
  throw new Error('nothing is sent')
}
const smtp = smtpProvider({ guard: localGuard, copies: noCopies })

describeOneDatabase('the SMTP server of the IMAP form', 'sqlite', (open) => {
  async function opened(options: HostedOptions = {}) {
    const [hosted, sink] = await Promise.all([
      serveHosted(await open(), { further: { smtp }, ...options }),
      startSmtpSink(),
    ])
    onTestFinished(async () => {
      await Promise.all([hosted.close(), sink.close()])
    })
    sink.behave({ password: 'out' })
    const { code, authUrl } = await hosted.session()
    const page = await hosted.open(authUrl)
    const server = { smtpHost: 'localhost', smtpPort: String(sink.port), allowSelfSigned: 'true' }
    const post = async (fields: Record<string, string>) =>
      (await hosted.call(PATH, imapForm(code, page, fields))).text()
    return { hosted, sink, code, page, server, post }
  }

  it('is checked at the sign-in, and a refusal keeps the password of the mailbox', async () => {
    const { hosted, code, server, post } = await opened()
    const refused = await post({ ...server, smtpUsername: 'ada-out', smtpPassword: 'wrong' })
    expect(refused).toContain('data-code="smtp_auth_failed"')
    expect(refused).toMatch(/id="smtpPassword"[^>]* aria-invalid="true" aria-describedby="form-error/)
    expect(refused).toContain('<details class="more" id="settings" open>')
    expect(refused).not.toMatch(/"(wrong|right)"/)
    expect(await hosted.status(code)).toMatchObject({ status: 'failed', failureCode: 'smtp_auth_failed' })
    const passwordToken = fieldValue(refused, 'passwordToken')
    const again = await post({ ...server, smtpUsername: 'ada-out', password: '', passwordToken })
    expect(again).toContain('data-code="smtp_auth_failed"')
    const done = await post({ ...server, smtpUsername: 'ada-out', smtpPassword: 'out', password: '', passwordToken })
    expect(done).toContain('Mailbox connected')
    const account = await hosted.access(code)
    expect(account.settings.smtp).toEqual({
      host: 'localhost',
      port: Number(server.smtpPort),
      security: 'starttls',
      username: 'ada-out',
    })
    expect(account.secrets).toEqual({ password: 'right', smtpPassword: 'out' })
  })

  it('gets the username and the password of the mailbox unless others are entered', async () => {
    const { sink, server, post } = await opened()
    sink.behave({ password: 'right' })
    expect(await post(server)).toContain('Mailbox connected')
    expect(sink.connections()).toBe(1)
  })

  it('is not looked for when nothing about it was entered, nor while the user chooses a folder', async () => {
    const { hosted, sink, server, post } = await opened({
      further: { smtp: { verify: () => Promise.reject(new Error('asked')) } },
    })
    const folders = await post({ ...server, smtpPassword: 'wrong', intent: 'folders' })
    expect(folders).toContain('Choose a folder')
    expect(folders).toMatch(/id="smtpPassword"[^>]* placeholder="Already entered"/)
    expect(await post({})).toContain('Mailbox connected')
    expect([sink.connections(), hosted.mail.attempts.length]).toEqual([0, 2])
  })

  it('is not asked after a rejected sign-in to the mailbox, which loses no other password', async () => {
    const { sink, server, post } = await opened()
    const refused = await post({ ...server, password: 'wrong', smtpPassword: 'out' })
    expect(refused).toContain('data-code="imap_auth_failed"')
    expect(sink.connections()).toBe(0)
    const passwordToken = fieldValue(refused, 'passwordToken')
    expect(await post({ ...server, passwordToken, smtpPassword: '' })).toContain('Mailbox connected')
  })

  it.each([
    ['smtp_tls', { allowSelfSigned: '' }, 'smtpHost'],
    ['smtp_unreachable', { smtpHost: 'nowhere.invalid' }, 'smtpHost'],
    ['smtp_unreachable', { smtpHost: '169.254.169.254' }, 'smtpHost'],
    ['smtp_unreachable', { smtpPort: 'closed' }, 'smtpPort'],
  ])('shows %s for %j', async (code, changes, field) => {
    const { hosted, server, post } = await opened()
    const fields: Record<string, string> = { ...server, smtpPassword: 'out', ...changes }
    if (fields.smtpPort === 'closed') fields.smtpPort = String(await freePort())
    const page = await post(fields)
    expect(page).toContain(`data-code="${code}"`)
    expect(page).toMatch(new RegExp(`id="${field}"[^>]* aria-invalid="true"`))
    expect(await hosted.accountCount()).toBe(0)
  })

  it('gives one response, after one time, for closed, silent and other ports, and for refused and unknown hosts', async () => {
    const silent = await listening(() => {})
    const web = await listening((socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))
    const rude = await listening((socket) => socket.destroy())
    const closed = await listening(() => {})
    await closed.close()
    const ports = [silent.port, web.port, rude.port, closed.port]
    const { hosted } = await opened({
      formPorts: [993, ...ports],
      unreachableMs: 600,
      further: { smtp: smtpProvider({ guard: localGuard, copies: noCopies, limits: { connectMs: 300 } }) },
    })
    const targets = [
      ...ports.flatMap((port) => ['true', 'false'].map((smtpSecure) => ({ host: 'localhost', port, smtpSecure }))),
      { host: '10.0.0.1', port: closed.port, smtpSecure: '' },
      { host: 'no-such-name.invalid', port: closed.port, smtpSecure: '' },
    ]
    const seen = await Promise.all(
      targets.map(async ({ host, port, smtpSecure }) => {
        const { code, authUrl } = await hosted.session({ provider: 'imap' })
        const page = await hosted.open(authUrl)
        const startedMs = systemClock.monotonic()
        const fields = { smtpHost: host, smtpPort: String(port), smtpSecure }
        const response = await hosted.call(PATH, imapForm(code, page, fields))
        const alert = /<div class="alert".*?<\/div><\/div>/s.exec(await response.text())?.[0]
        return { alert: `${response.status} ${alert}`, tookMs: systemClock.monotonic() - startedMs }
      }),
    )
    expect([...new Set(seen.map(({ alert }) => alert))]).toEqual([
      expect.stringMatching(/^200 .*data-code="smtp_unreachable"/),
    ])
    for (const { tookMs } of seen) expect(tookMs).toBeGreaterThanOrEqual(590)
    for (const listener of [silent, web, rude]) await listener.close()
  })

  it('may have the ports of FORM_PORTS only, also where none was entered', async () => {
    const { server, post } = await opened({ formPorts: [993] })
    for (const fields of [server, { smtpHost: 'localhost' }, { smtpPassword: 'x' }]) {
      const page = await post(fields)
      expect(page).toContain('<a href="#smtpPort">')
      expect(page.match(/<a href="#smtpPort">/g)).toHaveLength(1)
    }
  })

  it('is checked for JSON, too, with the code in the error', async () => {
    const { hosted, server } = await opened()
    const { code } = await hosted.session()
    const json = { session: code, state: 's', ...IMAP_FIELDS, ...server, smtpPassword: 'wrong' }
    const response = await hosted.call(PATH, { json, headers: { accept: 'application/json' } })
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('"smtp_auth_failed"')])
  })
})
