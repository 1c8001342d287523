import { expect, it } from 'vitest'
import { googleSite } from '../../../../test/kit/consent.ts'
import { describeOneDatabase } from '../../../../test/kit/database.ts'
import {
  BROWSER_ACCEPT,
  fieldValue,
  type Hosted,
  type HostedOptions,
  imapForm,
  refreshOf,
  serveHosted,
} from '../../../../test/kit/hosted.ts'

const EMAIL = 'ada@mill.example'
const USER = { email: EMAIL, customUserId: 'user-7' }
const SERVER = { host: 'mx.mill.example', port: '10993', username: 'mill-ada', mailbox: 'Work/Größe' }
const PATH = '/auth/authorize/imap'

describeOneDatabase('reconnecting a mailbox', 'sqlite', (open) => {
  async function withPages(run: (hosted: Hosted) => Promise<void>, options: HostedOptions = {}): Promise<void> {
    const hosted = await serveHosted(await open(), { authScreen: { name: 'Northwind' }, ...options })
    try {
      await run(hosted)
    } finally {
      await hosted.close()
    }
  }

  async function connect(hosted: Hosted, body: Record<string, unknown>, fields: Record<string, unknown> = {}) {
    const { code } = await hosted.session(body)
    const json = { session: code, state: 's', email: EMAIL, password: 'right', ...SERVER, ...fields }
    const response = await hosted.call(PATH, { json, headers: { accept: 'application/json' } })
    return { code, status: response.status, body: await response.text() }
  }

  it('asks for the password only, with the address and the server fixed', () =>
    withPages(async (hosted) => {
      const { accountId } = await hosted.status((await connect(hosted, USER)).code)
      const { code, authUrl } = await hosted.session({ ...USER, email: EMAIL.toUpperCase() })
      const opened = await hosted.open(authUrl)
      expect(opened.page).toContain('<h1>Reconnect your mailbox</h1>')
      expect(opened.page).toContain(`<p class="address">${EMAIL}</p>`)
      expect(opened.page).toContain('Server: <bdi>mx.mill.example</bdi>')
      expect(opened.page).not.toMatch(
        /mill-ada|Work|Use a different address|name="(host|username|mailbox)"|settings" open/,
      )
      expect(fieldValue(opened.page, 'port')).toBe('10993')

      const headers = { cookie: opened.cookie, accept: BROWSER_ACCEPT }
      const form = { session: code, state: opened.state, email: 'eve@evil.example', edit: 'address' }
      const again = await (await hosted.call('/auth/authorize', { form, headers })).text()
      expect(again).toContain('<h1>Reconnect your mailbox</h1>')
      expect(again).not.toContain('eve@evil.example')

      const other = { email: 'eve@evil.example', host: 'evil.example', username: 'eve', mailbox: 'INBOX' }
      const wrong = await (
        await hosted.call(PATH, imapForm(code, opened, { ...other, port: '10993', password: 'no' }))
      ).text()
      expect(wrong).toContain('Check the password and try again.')
      expect(wrong).not.toMatch(/mill-ada|evil|settings" open/)
      const done = await hosted.call(PATH, imapForm(code, opened, { ...other, port: '10993', password: 'right' }))
      expect(await done.text()).toContain('Mailbox connected')
      expect(hosted.mail.attempts.at(-1)).toMatchObject({
        ...{ email: EMAIL, secrets: { password: 'right' } },
        settings: { imap: { host: 'mx.mill.example', port: 10_993, username: 'mill-ada', mailbox: 'Work/Größe' } },
      })
      expect([await hosted.status(code), await hosted.accountCount()]).toMatchObject([{ accountId, email: EMAIL }, 1])
    }))

  it('keeps the password after an error of another field', () =>
    withPages(async (hosted) => {
      await connect(hosted, USER)
      const { code, authUrl } = await hosted.session(USER)
      const opened = await hosted.open(authUrl)
      const post = async (fields: Record<string, string>) =>
        (await hosted.call(PATH, imapForm(code, opened, { host: '', username: '', ...fields }))).text()
      const invalid = await post({ port: 'x', password: 'right' })
      expect(invalid).toContain('settings" open')
      const passwordToken = fieldValue(invalid, 'passwordToken')
      expect(await post({ port: '993', password: '', passwordToken })).toContain('Mailbox connected')
    }))

  it('keeps the settings for sending and for the calendar, and does not send their passwords elsewhere', () =>
    withPages(async (hosted) => {
      const smtp = { smtpHost: 'out.mill.example', smtpPort: 465, smtpUsername: 'mill-out', smtpPassword: 'out' }
      const caldav = { caldavUrl: 'https://dav.mill.example/', caldavUsername: 'mill-dav', caldavPassword: 'dav' }
      const connected = await hosted.access((await connect(hosted, USER, { ...smtp, ...caldav })).code)
      const reconnect = async (fields: Record<string, string>) => {
        const { code, authUrl } = await hosted.session(USER)
        const opened = await hosted.open(authUrl)
        expect(opened.page).not.toMatch(/mill-out|mill-dav|settings" open/)
        expect(opened.page.match(/id="(smtp|caldav)(Username|Password)"[^>]* placeholder="Already/g)).toHaveLength(4)
        const shown = ['port', 'smtpHost', 'smtpPort', 'caldavUrl'].map((name) => [name, fieldValue(opened.page, name)])
        const given = { ...Object.fromEntries(shown), host: '', username: '', password: 'right', ...fields }
        expect(await (await hosted.call(PATH, imapForm(code, opened, given))).text()).toContain('Mailbox connected')
        const { settings, secrets } = await hosted.access(code)
        expect(hosted.mail.furtherAttempts.at(-1)).toMatchObject({ settings, secrets })
        // For the next one.
        await connect(hosted, USER, { ...smtp, ...caldav })
        return { settings, secrets }
      }
      expect(await reconnect({})).toEqual({ settings: connected.settings, secrets: connected.secrets })
      expect(await reconnect({ smtpUsername: 'mill-new' })).toMatchObject({
        settings: { smtp: { host: 'out.mill.example', username: 'mill-new' } },
        secrets: { smtpPassword: 'out' },
      })
      const ways = [
        { smtpHost: 'evil.example' },
        { smtpPort: '2525' },
        { smtpSecure: 'false' },
        { allowSelfSigned: 'on' },
      ]
      for (const elsewhere of ways) {
        const { settings, secrets } = await reconnect(elsewhere)
        expect([settings.smtp?.username, settings.caldav]).toEqual([undefined, connected.settings.caldav])
        expect(secrets).toEqual({ password: 'right', caldavPassword: 'dav' })
      }
      const { settings, secrets } = await reconnect({ caldavUrl: 'https://evil.example/' })
      expect([settings.caldav, settings.smtp]).toEqual([{ url: 'https://evil.example/' }, connected.settings.smtp])
      expect(secrets).toEqual({ password: 'right', smtpPassword: 'out' })
    }))

  it('does not send the password of a derived SMTP server when plain text gets allowed', () =>
    withPages(async (hosted) => {
      await connect(hosted, USER, { smtpPassword: 'out' })
      const reconnect = async (secure: string) => {
        const { code, authUrl } = await hosted.session(USER)
        const given = { host: '', username: '', port: '10993', password: 'right', secure }
        const form = imapForm(code, await hosted.open(authUrl), given)
        expect(await (await hosted.call(PATH, form)).text()).toContain('Mailbox connected')
        return (await hosted.access(code)).secrets.smtpPassword
      }
      expect([await reconnect('true'), await reconnect('false')]).toEqual(['out', undefined])
    }))

  it('refuses another mailbox, and leaves the session open', () =>
    withPages(async (hosted) => {
      await connect(hosted, USER)
      const refused = await connect(hosted, USER, { username: 'eve' })
      expect([refused.status, refused.body]).toEqual([400, expect.stringContaining('"code":"mailbox_mismatch"')])
      expect(await hosted.status(refused.code)).toMatchObject({ status: 'failed', failureCode: 'mailbox_mismatch' })
      expect(await hosted.accountCount()).toBe(1)
    }))

  it('is not what a session without the address, or for another user, does', () =>
    withPages(async (hosted) => {
      await connect(hosted, USER)
      for (const body of [{ customUserId: 'user-7' }, { email: EMAIL }, { ...USER, customUserId: 'user-8' }]) {
        const { page } = await hosted.open((await hosted.session(body)).authUrl)
        expect(page).toContain('<h1>Connect your mailbox to Northwind</h1>')
        expect((await connect(hosted, body, { username: `other-${JSON.stringify(body).length}` })).status).toBe(200)
      }
    }))

  it('is not what an address does that comes after the creation of the session, as from the user', async () => {
    const site = await googleSite()
    site.server.addUser(EMAIL)
    await withPages(
      async (hosted) => {
        site.server.allowRedirect(`${hosted.url}/providers/gmail/callback`)
        await connect(hosted, { email: EMAIL })
        const { code } = await hosted.session({})
        const started = await hosted.call(`/auth/sessions/${code}/start`, {
          json: { provider: 'gmail', state: 's', email: EMAIL },
          key: true,
        })
        const { authorizationUrl } = (await started.json()) as { authorizationUrl: string }
        expect((await hosted.call(await site.consent(authorizationUrl, EMAIL))).status).toBe(302)
        expect(await hosted.accountCount()).toBe(2)
      },
      { logins: { gmail: site.login } },
    )
    await site.server.close()
  })

  it('says what is new for a mailbox that was connected before calendars were asked for', async () => {
    const site = await googleSite()
    site.server.addUser(EMAIL)
    const calendars = site.login.scopes.filter((scope) => scope.includes('calendar'))
    site.server.withholdScopes(EMAIL, calendars)
    await withPages(
      async (hosted) => {
        site.server.allowRedirect(`${hosted.url}/providers/gmail/callback`)
        const connected = async () => {
          const { code, authUrl } = await hosted.session({ ...USER, provider: 'gmail' })
          const opened = await hosted.open(authUrl)
          const form = { session: code, state: opened.state, provider: 'gmail' }
          const headers = { cookie: opened.cookie, accept: BROWSER_ACCEPT }
          const consent = refreshOf(await (await hosted.call('/auth/authorize', { form, headers })).text()) ?? ''
          expect((await hosted.call(await site.consent(consent, EMAIL), { headers })).status).toBe(302)
          return opened.page
        }
        const asked = 'Northwind now also asks for permission to:'
        const lists = (page: string) =>
          /<div class="grants">.*?<\/div>/s.exec(page)?.[0].replace(/<svg.*?<\/svg>/gs, '')
        expect(await connected()).not.toContain(asked)
        site.server.withholdScopes(EMAIL, [])
        const page = lists(await connected())
        expect(page).toContain(`<p>${asked}</p><ul><li>See and change the events in your calendars</li></ul>`)
        expect(page).toContain('<p>Already allowed:</p><ul><li>Read your messages</li>')
        const after = lists(await connected())
        expect(after).toContain('<p>Northwind asks for permission to:</p><ul><li>Read your messages</li>')
      },
      { logins: { gmail: site.login } },
    )
    await site.server.close()
  })

  it('refuses another account at the provider, naming the address of the link', async () => {
    const site = await googleSite()
    for (const user of [EMAIL, 'eve@mill.example']) site.server.addUser(user)
    await withPages(
      async (hosted) => {
        site.server.allowRedirect(`${hosted.url}/providers/gmail/callback`)
        const signIn = async (as: string) => {
          const { code, authUrl } = await hosted.session({ ...USER, forceConsent: true })
          const opened = await hosted.open(authUrl)
          const form = { session: code, state: opened.state, provider: 'gmail' }
          const headers = { cookie: opened.cookie, accept: BROWSER_ACCEPT }
          const consent = refreshOf(await (await hosted.call('/auth/authorize', { form, headers })).text()) ?? ''
          const response = await hosted.call(await site.consent(consent, as), { headers })
          return { opened, code, status: response.status, page: await response.text() }
        }
        const first = await signIn(EMAIL)
        expect([first.status, first.opened.page.includes('type="email"')]).toEqual([302, true])
        const other = await signIn('eve@mill.example')
        expect(other.opened.page).toContain('<h1>Reconnect your mailbox</h1>')
        expect(other.opened.page).not.toContain('type="email"')
        expect([other.status, other.page]).toEqual([400, expect.stringContaining('This is a different mailbox')])
        expect(other.page).toContain(`This link reconnects ${EMAIL}.`)
        expect(await hosted.status(other.code)).toMatchObject({ failureCode: 'mailbox_mismatch' })
        expect([(await signIn(EMAIL)).status, await hosted.accountCount()]).toEqual([302, 1])
      },
      { logins: { gmail: site.login } },
    )
    await site.server.close()
  })
})
