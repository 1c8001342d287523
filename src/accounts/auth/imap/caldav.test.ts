import { beforeAll, expect, it, onTestFinished } from 'vitest'
import {
  fieldValue,
  type HostedOptions,
  IMAP_FIELDS,
  imapForm,
  serveHosted,
} from '../../../../test/kit/accounts/hosted.ts'
import { testCaldav } from '../../../../test/kit/calendars/caldav.ts'
import { describeOneDatabase } from '../../../../test/kit/database/database.ts'
import {
  type Certificate,
  certificateFor,
  type DavCall,
  type DavReply,
  multistatus,
  startDavServer,
} from '../../../../test/servers/dav-server.ts'
import { listening } from '../../../../test/servers/listener.ts'
import { systemClock } from '../../../platform/time/clock.ts'

const PATH = '/auth/authorize/imap'
const HOSTS = { localhost: '127.0.0.1', 'public.example': '8.8.8.8' }

let certificate: Certificate
beforeAll(async () => {
  certificate = await certificateFor(['localhost'])
})

/** One calendar home below `/dav/`, for two logins. */
function calendars({ line, credentials }: DavCall): DavReply {
  if (line === 'PROPFIND /page') return { status: 200, body: '<html>' }
  if (!line.includes(' /dav/')) return { status: 404 }
  if (credentials !== 'ada:right' && credentials !== 'ada-dav:dav') return { status: 401 }
  if (line.endsWith('/empty')) return multistatus({ '/dav/empty': '<D:resourcetype><D:collection/></D:resourcetype>' })
  return multistatus({ '/dav/': '<C:calendar-home-set><D:href>/dav/home/</D:href></C:calendar-home-set>' })
}

describeOneDatabase('the calendar of the IMAP form', 'sqlite', (open) => {
  async function opened(options: HostedOptions = {}, dav = testCaldav({ hosts: HOSTS })) {
    const [hosted, server] = await Promise.all([
      open().then((db) => serveHosted(db, { further: { caldav: dav.provider }, ...options })),
      startDavServer(calendars),
    ])
    onTestFinished(async () => {
      await Promise.all([hosted.close(), server.close(), dav.close()])
    })
    const { code, authUrl } = await hosted.session()
    const page = await hosted.open(authUrl)
    const caldavUrl = `http://localhost:${server.port}/dav/`
    const post = async (fields: Record<string, string>) =>
      (await hosted.call(PATH, imapForm(code, page, fields))).text()
    return { hosted, calls: server.calls, code, page, caldavUrl, post }
  }

  it('is checked at the sign-in, and a refusal keeps the other passwords', async () => {
    const { hosted, code, caldavUrl, post } = await opened()
    const smtp = { smtpHost: 'smtp.example.com', smtpPassword: 'out' }
    const fields = { caldavUrl, caldavUsername: 'ada-dav', ...smtp }
    const refused = await post({ ...fields, caldavPassword: 'wrong' })
    expect(refused).toContain('data-code="caldav_auth_failed"')
    expect(refused).toMatch(/id="caldavPassword"[^>]* aria-invalid="true" aria-describedby="form-error/)
    expect(refused).toContain('<details class="more" id="settings" open>')
    expect(refused).not.toMatch(/"(wrong|right|out)"/)
    expect(await hosted.status(code)).toMatchObject({ status: 'failed', failureCode: 'caldav_auth_failed' })
    const again = { ...fields, smtpPassword: '', password: '', passwordToken: fieldValue(refused, 'passwordToken') }
    expect(await post({ ...again, caldavPassword: 'dav' })).toContain('Mailbox connected')
    const account = await hosted.access(code)
    expect(account.settings.caldav).toEqual({ url: caldavUrl, username: 'ada-dav' })
    expect(account.secrets).toEqual({ password: 'right', smtpPassword: 'out', caldavPassword: 'dav' })
  })

  it('is asked for together with contacts only while the service syncs them', async () => {
    for (const contactsEnabled of [false, true]) {
      const { hosted } = await opened({ contactsEnabled })
      const { authUrl } = await hosted.session({ provider: 'imap', email: 'ada@example.com' })
      const { page } = await hosted.open(authUrl)
      const texts = [
        'See and change your contacts',
        'Calendar and contacts (CalDAV, CardDAV)',
        'contacts are looked for',
      ]
      expect(texts.map((text) => page.includes(text))).toEqual(texts.map(() => contactsEnabled))
      expect(page.includes('Calendar (CalDAV)')).toBe(!contactsEnabled)
      expect(page).toContain('See and change the events in your calendars')
    }
  })

  it('gets the username and the password of the mailbox unless others are entered', async () => {
    const { caldavUrl, calls, post } = await opened()
    expect(await post({ caldavUrl })).toContain('Mailbox connected')
    expect(calls.map(({ credentials }) => credentials)).toEqual(['ada:right'])
  })

  it('is not looked for when no URL was entered, nor while the user chooses a folder', async () => {
    const { hosted, caldavUrl, calls, post } = await opened()
    const folders = await post({ caldavUrl, caldavPassword: 'wrong', intent: 'folders' })
    expect(folders).toContain('Choose a folder')
    expect(folders).toMatch(/id="caldavPassword"[^>]* placeholder="Already entered"/)
    expect(await post({})).toContain('Mailbox connected')
    expect([calls.length, hosted.mail.attempts.length]).toEqual([0, 2])
  })

  it.each([
    ['nothing', '/nothing'],
    ['a web page', '/page'],
    ['no calendar', '/dav/empty'],
  ])('must not lead to %s', async (_name, path) => {
    const { hosted, caldavUrl, post } = await opened()
    const page = await post({ caldavUrl: new URL(path, caldavUrl).href })
    expect(page).toContain('data-code="caldav_unreachable"')
    expect(page).toMatch(/id="caldavUrl"[^>]* aria-invalid="true"/)
    expect(await hosted.accountCount()).toBe(0)
  })

  it('must have a valid certificate', async () => {
    const { post } = await opened()
    const server = await startDavServer(calendars, certificate)
    onTestFinished(() => server.close())
    const page = await post({ caldavUrl: `https://localhost:${server.port}/dav/`, allowSelfSigned: 'true' })
    expect(page).toContain('data-code="caldav_tls"')
    expect(page).toMatch(/id="caldavUrl"[^>]* aria-invalid="true"/)
    expect(server.calls).toEqual([])
  })

  it('gives one response, after one time, for closed, silent and other ports, and for refused and unknown hosts', async () => {
    const silent = await listening(() => {})
    const web = await listening((socket) => void socket.write('SSH-2.0-OpenSSH_9.2\r\n'))
    const rude = await listening((socket) => socket.destroy())
    const closed = await listening(() => {})
    await closed.close()
    const ports = [silent.port, web.port, rude.port, closed.port]
    const dav = testCaldav({ hosts: HOSTS, verifyMs: 300 })
    const { hosted } = await opened({ formPorts: [993, 80, ...ports], unreachableMs: 600 }, dav)
    const targets = [
      ...ports.flatMap((port) => [`http://localhost:${port}`, `https://localhost:${port}`]),
      `https://10.0.0.1:${closed.port}`,
      `https://no-such-name.invalid:${closed.port}`,
      'http://public.example/',
    ]
    const seen = await Promise.all(
      targets.map(async (caldavUrl) => {
        const { code, authUrl } = await hosted.session({ provider: 'imap' })
        const page = await hosted.open(authUrl)
        const startedMs = systemClock.monotonic()
        const response = await hosted.call(PATH, imapForm(code, page, { caldavUrl }))
        const alert = /<div class="alert".*?<\/div><\/div>/s.exec(await response.text())?.[0]
        return { alert: `${response.status} ${alert}`, tookMs: systemClock.monotonic() - startedMs }
      }),
    )
    expect([...new Set(seen.map(({ alert }) => alert))]).toEqual([
      expect.stringMatching(/^200 .*data-code="caldav_unreachable"/),
    ])
    for (const { tookMs } of seen) expect(tookMs).toBeGreaterThanOrEqual(590)
    for (const listener of [silent, web, rude]) await listener.close()
  })

  it('must be a web address with one of the ports of FORM_PORTS', async () => {
    const { calls, caldavUrl, post } = await opened({ formPorts: [993] })
    for (const fields of [{ caldavUrl: 'dav.example.com' }, { caldavUrl }, { caldavUsername: 'ada-dav' }]) {
      expect(await post({ caldavUrl: '', ...fields })).toContain('<a href="#caldavUrl">')
    }
    expect(calls).toEqual([])
  })

  it('is checked for JSON, too, with the code in the error', async () => {
    const { hosted, caldavUrl } = await opened()
    const { code } = await hosted.session()
    const json = { session: code, state: 's', ...IMAP_FIELDS, caldavUrl, caldavPassword: 'wrong' }
    const response = await hosted.call(PATH, { json, headers: { accept: 'application/json' } })
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('"caldav_auth_failed"')])
  })
})
