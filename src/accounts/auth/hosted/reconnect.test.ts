import { expect, it } from 'vitest'
import { googleSite } from '../../../../test/kit/accounts/consent.ts'
import {
  BROWSER_ACCEPT,
  fieldValue,
  findRefresh,
  type Hosted,
  type HostedOptions,
  imapForm,
  type Opened,
  serveHosted,
} from '../../../../test/kit/accounts/hosted.ts'
import { describeOneDatabase } from '../../../../test/kit/database/database.ts'

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

  /** Builds the form that a browser sends when the user enters only these fields. */
  function buildForm(code: string, opened: Opened, entered: Record<string, string>) {
    const names = ['email', 'host', 'port', 'username', 'mailbox', 'smtpHost', 'smtpPort', 'caldavUrl', 'passwordToken']
    const shown = Object.fromEntries(names.map((name) => [name, fieldValue(opened.page, name)]))
    return imapForm(code, opened, { ...shown, password: '', ...entered })
  }

  it('shows what is stored and asks for the password only', () =>
    withPages(async (hosted) => {
      const { accountId } = await hosted.status((await connect(hosted, USER)).code)
      const { code, authUrl } = await hosted.session({ ...USER, email: EMAIL.toUpperCase() })
      const opened = await hosted.open(authUrl)
      expect(opened.page).toContain('<h1>Reconnect your mailbox</h1>')
      expect(opened.page).toContain(`<p class="address">${EMAIL}</p>`)
      expect(opened.page).toContain('Server: <bdi>mx.mill.example</bdi>')
      expect(opened.page).not.toMatch(/Use a different address|settings" open/)
      const stored = { email: EMAIL, ...SERVER }
      for (const [name, value] of Object.entries(stored)) expect(fieldValue(opened.page, name)).toBe(value)

      const headers = { cookie: opened.cookie, accept: BROWSER_ACCEPT }
      const form = { session: code, state: opened.state, email: 'eve@evil.example', edit: 'address' }
      const again = await (await hosted.call('/auth/authorize', { form, headers })).text()
      expect(again).toContain('<h1>Reconnect your mailbox</h1>')
      expect(again).not.toContain('eve@evil.example')

      const wrong = await (await hosted.call(PATH, buildForm(code, opened, { password: 'no' }))).text()
      expect(wrong).toContain('Check the password and try again.')
      expect(wrong).not.toContain('settings" open')
      const done = await hosted.call(PATH, buildForm(code, opened, { password: 'right' }))
      expect(await done.text()).toContain('Mailbox connected')
      expect(hosted.mail.attempts.at(-1)).toMatchObject({
        email: EMAIL,
        secrets: { password: 'right' },
        settings: { imap: { host: 'mx.mill.example', port: 10_993, username: 'mill-ada', mailbox: 'Work/Größe' } },
      })
      expect([await hosted.status(code), await hosted.accountCount()]).toMatchObject([{ accountId, email: EMAIL }, 1])
    }))

  it('signs in with what the user entered, not with what is stored', () =>
    withPages(async (hosted) => {
      await connect(hosted, USER)
      const { code, authUrl } = await hosted.session(USER)
      const opened = await hosted.open(authUrl)
      const entered = { host: 'imap.other.example', username: 'eve', mailbox: 'INBOX', email: 'eve@other.example' }
      const refused = await hosted.call(PATH, buildForm(code, opened, { ...entered, password: 'right' }))
      expect([refused.status, await refused.text()]).toEqual([
        400,
        expect.stringContaining('This is a different mailbox'),
      ])
      expect(hosted.mail.attempts.at(-1)).toMatchObject({
        email: 'eve@other.example',
        settings: { imap: { host: 'imap.other.example', username: 'eve', mailbox: 'INBOX' } },
      })
      expect(await hosted.status(code)).toMatchObject({ status: 'failed', failureCode: 'mailbox_mismatch' })

      const unknown = await hosted.call(PATH, buildForm(code, opened, { mailbox: 'Nowhere', password: 'right' }))
      expect(await unknown.text()).toContain('id="mailbox-error"')
      const address = { email: 'ada@other.example', password: 'right' }
      expect(await (await hosted.call(PATH, buildForm(code, opened, address))).text()).toContain('Mailbox connected')
      expect(await hosted.status(code)).toMatchObject({ status: 'completed', email: 'ada@other.example' })
      expect(await hosted.accountCount()).toBe(1)
    }))

  it.each(['email', 'host', 'username', 'password'])('does not connect without %s', (name) =>
    withPages(async (hosted) => {
      await connect(hosted, USER)
      const { code, authUrl } = await hosted.session(USER)
      const opened = await hosted.open(authUrl)
      const attempts = hosted.mail.attempts.length
      const { form, headers } = buildForm(code, opened, { password: 'right' })
      for (const value of ['', '  ', undefined]) {
        const fields: Record<string, string> = { ...form }
        delete fields[name]
        if (value !== undefined) fields[name] = value
        if (name === 'password' && value === '  ') continue
        const page = await (await hosted.call(PATH, { form: fields, headers: { ...headers } })).text()
        expect(page).toContain(`id="${name}-error"`)
        const json = await hosted.call(PATH, { form: fields, headers: { ...headers, accept: 'application/json' } })
        expect([json.status, await json.json()]).toMatchObject([
          400,
          { error: { details: [{ path: `body.${name}` }] } },
        ])
      }
      expect(hosted.mail.attempts).toHaveLength(attempts)
      expect(await hosted.status(code)).not.toMatchObject({ status: 'completed' })
    }),
  )

  it.each([
    ['email', 'nobody'],
    ['host', 'imap.mill.example/x'],
    ['port', '70000'],
    ['secure', 'perhaps'],
  ])('does not connect with the %s %s', (name, value) =>
    withPages(async (hosted) => {
      await connect(hosted, USER)
      const { code, authUrl } = await hosted.session(USER)
      const attempts = hosted.mail.attempts.length
      const form = buildForm(code, await hosted.open(authUrl), { password: 'right', [name]: value })
      expect(await (await hosted.call(PATH, form)).text()).toContain(`id="${name}-error"`)
      expect(hosted.mail.attempts).toHaveLength(attempts)
    }),
  )

  it('keeps the password after an error of another field', () =>
    withPages(async (hosted) => {
      await connect(hosted, USER)
      const { code, authUrl } = await hosted.session(USER)
      const opened = await hosted.open(authUrl)
      const post = async (fields: Record<string, string>) =>
        (await hosted.call(PATH, buildForm(code, opened, fields))).text()
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
        const form = buildForm(code, opened, { password: 'right', ...fields })
        expect(await (await hosted.call(PATH, form)).text()).toContain('Mailbox connected')
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
        const form = buildForm(code, await hosted.open(authUrl), { password: 'right', secure })
        expect(await (await hosted.call(PATH, form)).text()).toContain('Mailbox connected')
        return (await hosted.access(code)).secrets.smtpPassword
      }
      expect([await reconnect('true'), await reconnect('false')]).toEqual(['out', undefined])
    }))

  it('sends no stored password to servers that follow from another address, server or username', () =>
    withPages(async (hosted) => {
      for (const entered of [{ host: 'evil.example' }, { username: 'eve' }, { email: 'ada@evil.example' }]) {
        await connect(hosted, USER, { smtpPassword: 'out' })
        hosted.mail.furtherAttempts.length = 0
        const { code, authUrl } = await hosted.session(USER)
        await hosted.call(PATH, buildForm(code, await hosted.open(authUrl), { password: 'right', ...entered }))
        expect(hosted.mail.attempts.at(-1)?.secrets).toEqual({ password: 'right' })
        expect(hosted.mail.furtherAttempts.map(({ secrets }) => secrets.smtpPassword)).not.toContain('out')
      }
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
          const consent = findRefresh(await (await hosted.call('/auth/authorize', { form, headers })).text()) ?? ''
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
          const consent = findRefresh(await (await hosted.call('/auth/authorize', { form, headers })).text()) ?? ''
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
