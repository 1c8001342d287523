import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  BROWSER_ACCEPT,
  fieldValue,
  findRefresh,
  type Hosted,
  imapForm,
  serveHosted,
} from '../../../../test/kit/accounts/hosted.ts'
import { loginAt } from '../../../../test/kit/accounts/oauth.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import type { Db } from '../../../platform/db/index.ts'

const JSON_ACCEPT = { accept: 'application/json' }
const HTML_ACCEPT = { accept: BROWSER_ACCEPT }

describeEachDatabase('the hosted pages', (open) => {
  let db: Db
  let hosted: Hosted
  beforeEach(async () => {
    db = await open()
    hosted = await serveHosted(db)
  })
  afterEach(() => hosted.close())

  it('can be opened by anyone, any number of times and by HEAD, without side effects', async () => {
    const { code, authUrl } = await hosted.session()
    const before = await db.read.selectFrom('authSessions').selectAll().execute()
    const mine = await hosted.open(authUrl)
    for (let index = 0; index < 5; index += 1) await hosted.open(authUrl)
    const head = await hosted.call(authUrl, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(await db.read.selectFrom('authSessions').selectAll().execute()).toEqual(before)
    const response = await hosted.call('/auth/authorize/imap', imapForm(code, mine))
    expect(await response.text()).toContain('Mailbox connected')
  })

  it('work in several tabs of one browser', async () => {
    const { code, authUrl } = await hosted.session()
    const tabs = [await hosted.open(authUrl), await hosted.open(authUrl)]
    const cookie = tabs.map((tab) => tab.cookie).join('; ')
    for (const tab of tabs) {
      const form = { session: code, state: tab.state, email: 'ada@gmx.de' }
      const response = await hosted.call('/auth/authorize', { form, headers: { cookie } })
      expect([response.status, fieldValue(await response.text(), 'host')]).toEqual([200, 'imap.gmx.net'])
    }
  })

  it('forbid framing, foreign scripts, caching and referrers', async () => {
    const { code, authUrl } = await hosted.session()
    const opened = await hosted.call(authUrl)
    const failed = await hosted.call('/auth/authorize?session=unknown', { headers: HTML_ACCEPT })
    const posted = await hosted.call('/auth/authorize', { json: { session: code, state: 's', email: 'a@gmx.de' } })
    for (const response of [opened, failed, posted]) {
      const policy = response.headers.get('content-security-policy') ?? ''
      const nonce = /style-src 'nonce-([^']+)'/.exec(policy)?.[1] ?? ''
      expect(policy.split('; ')).toEqual([
        "default-src 'none'",
        `style-src 'nonce-${nonce}'`,
        `script-src 'nonce-${nonce}'`,
        'img-src data:',
        `form-action ${hosted.url}`,
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ])
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(response.headers.get('referrer-policy')).toBe('no-referrer')
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('access-control-allow-origin')).toBeNull()
      const page = await response.text()
      const inline = [...page.matchAll(/<(?:style|script)(?! type="application\/json")[^>]*>/g)].map(([tag]) => tag)
      expect(inline.length).toBeGreaterThan(0)
      for (const tag of inline) expect(tag).toContain(`nonce="${nonce}"`)
      expect(page).not.toMatch(/ style="| on[a-z]+="/)
    }
    expect((await hosted.call(authUrl)).headers.get('content-security-policy')).not.toBe(
      opened.headers.get('content-security-policy'),
    )
  })

  it('report incomplete and unknown links as a page or as JSON, by the Accept header', async () => {
    const { code } = await hosted.session()
    const cases: [string, number, string][] = [
      ['/auth/authorize', 400, 'validation_failed'],
      ['/auth/authorize?session=', 400, 'validation_failed'],
      ['/auth/authorize?session=unknown', 404, 'not_found'],
      [`/auth/authorize?session=${code.toUpperCase()}`, 404, 'not_found'],
      ['/providers/nobody/callback?code=1&state=2', 404, 'route_not_found'],
    ]
    for (const [path, status, errorCode] of cases) {
      const page = await hosted.call(path, { headers: HTML_ACCEPT })
      expect([page.status, await page.text()]).toEqual([status, expect.stringContaining(`data-code="${errorCode}"`)])
      const json = await hosted.call(path, { headers: JSON_ACCEPT })
      expect([json.status, await json.json()]).toEqual([
        status,
        expect.objectContaining({ success: false, error: expect.objectContaining({ code: errorCode }) }),
      ])
    }
  })

  it('accept a form only with the cookie of its own session and state', async () => {
    const { code, authUrl } = await hosted.session()
    const { code: otherCode, authUrl: otherUrl } = await hosted.session()
    const mine = await hosted.open(authUrl)
    const other = await hosted.open(otherUrl)
    const form = { session: code, state: mine.state, email: 'ada@example.com' }
    const attempts: [Record<string, string>, string][] = [
      [form, ''],
      [form, other.cookie],
      [form, mine.cookie.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))],
      [{ ...form, state: other.state }, mine.cookie],
      [{ ...form, session: otherCode }, mine.cookie],
      [{ ...form, state: 'guessed' }, mine.cookie],
    ]
    for (const [fields, cookie] of attempts) {
      for (const type of ['application/x-www-form-urlencoded', 'Application/X-WWW-Form-URLencoded; charset=utf-8']) {
        const headers = { cookie, ...HTML_ACCEPT, 'content-type': type }
        const response = await hosted.call('/auth/authorize', { form: fields, headers })
        const refusal = [403, expect.stringContaining('Please open the link again')]
        expect([response.status, await response.text()]).toEqual(refusal)
      }
    }
    expect(await hosted.status(code)).toMatchObject({ status: 'pending' })
    expect((await hosted.call('/auth/authorize', { form, headers: { cookie: mine.cookie } })).status).toBe(200)
  })

  it('require session and state in every post', async () => {
    const { code } = await hosted.session()
    for (const part of [
      {},
      { session: code },
      { state: 'x' },
      { session: '', state: 'x' },
      { session: code, state: '' },
      { session: 5, state: 'x' },
      { session: [code], state: 'x' },
      { session: code, state: 'x'.repeat(2049) },
    ]) {
      for (const path of ['/auth/authorize', '/auth/authorize/imap', '/auth/authorize/imap/folders']) {
        const response = await hosted.call(path, { json: part, headers: JSON_ACCEPT })
        expect(response.status).toBe(400)
        expect(await response.json()).toMatchObject({
          error: {
            code: 'validation_failed',
            details: [
              { path: expect.stringMatching(/^body\.(session|state)$/) },
              ...('session' in part || 'state' in part ? [] : [expect.anything()]),
            ],
          },
        })
      }
    }
    for (const json of [[], 'text', 7]) {
      expect((await hosted.call('/auth/authorize', { json, headers: JSON_ACCEPT })).status).toBe(400)
    }
  })

  it('report an invalid address at its field', async () => {
    const { code, authUrl } = await hosted.session()
    const opened = await hosted.open(authUrl)
    for (const email of ['', 'ada', 'ada@', '<a@b>', `${'x'.repeat(320)}@example.com`]) {
      const form = { session: code, state: opened.state, email }
      const response = await hosted.call('/auth/authorize', {
        form,
        headers: { cookie: opened.cookie, ...HTML_ACCEPT },
      })
      const page = await response.text()
      expect(response.status).toBe(200)
      expect(page).toMatch(/<input id="email"[^>]* aria-invalid="true" aria-describedby="email-error"/)
      expect(page).toMatch(/<p class="error" id="email-error" role="alert">/)
    }
    const json = await hosted.call('/auth/authorize', {
      json: { session: code, state: 's', email: 'ada' },
      headers: JSON_ACCEPT,
    })
    expect([json.status, await json.json()]).toEqual([400, expect.objectContaining({ success: false })])
  })

  it('escape all external input', async () => {
    const nasty = '"><script>alert(1)</script><a href=\'x'
    const named = await serveHosted(db, { authScreen: { name: nasty } })
    const { code, authUrl } = await hosted.session({ customUserId: nasty })
    const opened = await hosted.open(`${authUrl}&state=${encodeURIComponent(nasty)}`)
    expect(opened.state).toBe(nasty)
    const form = imapForm(code, opened, {
      email: nasty,
      host: nasty,
      port: nasty,
      mailbox: nasty,
      caldavUrl: nasty,
      intent: nasty,
    })
    const pages = [
      opened.page,
      await (await hosted.call('/auth/authorize', { ...form, form: { ...form.form, email: nasty } })).text(),
      await (await hosted.call('/auth/authorize/imap', form)).text(),
      await (
        await hosted.call(`/auth/authorize?session=${encodeURIComponent(nasty)}`, { headers: HTML_ACCEPT })
      ).text(),
      (await named.open(`${named.url}/auth/authorize?session=${code}`)).page,
    ]
    for (const page of pages) {
      expect(page).not.toContain('<script>alert')
      expect(page).not.toContain("<a href='x")
    }
    await named.close()
  })

  it('build every URL from PUBLIC_URL, never from the Host header', async () => {
    const publicUrl = 'https://mail.example.com/tools/posthorn'
    const proxied = await serveHosted(db, { publicUrl })
    const { code, authUrl } = await proxied.session({ provider: 'imap', email: 'ada@example.com' })
    expect(authUrl).toBe(`${publicUrl}/auth/authorize?session=${code}`)
    const path = `/auth/authorize?session=${code}`
    const response = await proxied.call(path, {
      headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' },
    })
    const page = await response.text()
    expect(page).toContain(`action="${publicUrl}/auth/authorize/imap"`)
    expect(page).not.toContain('evil.example')
    expect(page).not.toContain(proxied.url)
    expect(response.headers.get('set-cookie')).toMatch(/; Path=\/tools\/posthorn; HttpOnly; SameSite=Lax; Secure$/)
    expect(response.headers.get('content-security-policy')).toContain('form-action https://mail.example.com;')
    await proxied.close()
  })

  it('show the IMAP form at once for a session limited to imap', async () => {
    const { authUrl } = await hosted.session({ provider: 'imap', email: 'ada@posteo.de' })
    const { page } = await hosted.open(authUrl)
    expect(['email', 'host', 'username'].map((name) => fieldValue(page, name))).toEqual([
      'ada@posteo.de',
      'posteo.de',
      'ada@posteo.de',
    ])
  })

  it('ask for the address first when the session has none, and then for the password only', async () => {
    const { code, authUrl } = await hosted.session({ provider: 'imap' })
    const opened = await hosted.open(authUrl)
    expect(opened.page).toContain('Enter the email address of the mailbox')
    expect(opened.page).not.toMatch(/type="password"|name="provider"/)
    const post = async (fields: Record<string, string>) => {
      const form = { session: code, state: opened.state, ...fields }
      return (await hosted.call('/auth/authorize', { form, headers: { cookie: opened.cookie, ...HTML_ACCEPT } })).text()
    }
    expect(await post({ email: '' })).toContain('Enter your email address.')
    const short = await post({ email: 'ada@posteo.de' })
    expect(short).toContain('Server: <bdi>posteo.de</bdi>')
    expect(short).not.toContain('<details class="more" id="settings" open>')
    const form = { email: 'ada@posteo.de', provider: 'imap' }
    expect(await post({ ...form, edit: 'server' })).toContain('<details class="more" id="settings" open>')
    const again = await post({ ...form, edit: 'address' })
    expect([again.includes('type="password"'), fieldValue(again, 'email')]).toEqual([false, 'ada@posteo.de'])
  })

  it('fill in the email hint in the first step', async () => {
    const { authUrl } = await hosted.session({ email: 'hint@example.com' })
    expect(fieldValue((await hosted.open(authUrl)).page, 'email')).toBe('hint@example.com')
  })

  it('show the brand: name, logo, links and colour', async () => {
    const logoUrl = 'https://cdn.example.com/logo.svg'
    const branded = await serveHosted(db, {
      authScreen: {
        name: 'Northwind',
        logoUrl,
        color: '#ff6600',
        supportUrl: 'https://n.example/help',
        privacyUrl: 'https://n.example/privacy',
      },
    })
    const { authUrl } = await branded.session()
    const response = await branded.call(authUrl)
    const page = await response.text()
    expect(page).toContain(`<img src="${logoUrl}" alt="Northwind"`)
    expect(page).toContain('Connect your mailbox to Northwind')
    expect(page).toContain('https://n.example/help')
    expect(page).toContain('https://n.example/privacy')
    expect(response.headers.get('content-security-policy')).toContain('img-src data: https://cdn.example.com;')
    await branded.close()
  })

  it('limit requests per client address and send Retry-After', async () => {
    const responses = await Promise.all(
      Array.from({ length: 301 }, (_, index) =>
        hosted.call(`/auth/authorize?session=${index}`, { headers: HTML_ACCEPT }),
      ),
    )
    const refused = responses.filter((response) => response.status === 429)
    expect(refused).toHaveLength(1)
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await refused[0]?.text()).toContain('Too many attempts')
  })
})

describeEachDatabase('the choice of a provider', (open) => {
  let db: Db
  let hosted: Hosted
  beforeEach(async () => {
    db = await open()
    hosted = await serveHosted(db, { logins: { gmail: loginAt('https://accounts.example')('gmail') } })
  })
  afterEach(() => hosted.close())

  const post = async (code: string, link: string, fields: Record<string, string>) => {
    const opened = await hosted.open(link)
    const form = { session: code, state: opened.state, ...fields }
    const response = await hosted.call('/auth/authorize', { form, headers: { cookie: opened.cookie, ...HTML_ACCEPT } })
    return { status: response.status, page: await response.text() }
  }

  it('shows the providers that are set up and leads to the consent page of the chosen one', async () => {
    const { code, authUrl } = await hosted.session()
    const { page } = await hosted.open(authUrl)
    expect([...page.matchAll(/name="provider" value="(\w+)"/g)].map(([, name]) => name)).toEqual(['gmail', 'imap'])
    const picked = await post(code, authUrl, { email: '', provider: 'gmail' })
    expect(picked.status).toBe(200)
    const consent = new URL(findRefresh(picked.page) ?? '')
    expect(consent.origin + consent.pathname).toBe('https://accounts.example/auth')
    expect(consent.searchParams.has('login_hint')).toBe(false)
    expect(consent.searchParams.get('redirect_uri')).toBe(`${hosted.url}/providers/gmail/callback`)
    const other = await post(code, authUrl, { email: '', provider: 'imap' })
    expect([other.page.includes('type="password"'), fieldValue(other.page, 'provider')]).toEqual([false, 'imap'])
    expect(other.page).not.toMatch(/<input[^>]* aria-invalid/)
    const chosen = await post(code, authUrl, { email: 'ada@gmail.com', provider: 'imap' })
    expect(chosen.page).toContain('Sign in to your mailbox')
  })

  it('follows the address and uses a new state for the consent', async () => {
    const { code, authUrl } = await hosted.session()
    const chosen = await post(code, `${authUrl}&state=mine`, { email: 'ada@gmail.com' })
    const query = new URL(findRefresh(chosen.page) ?? '').searchParams
    expect(query.get('login_hint')).toBe('ada@gmail.com')
    expect(query.get('state')).toMatch(/^[\w-]{43}$/)
    expect((await post(code, authUrl, { email: 'ada@example.com' })).page).toContain('Sign in to your mailbox')
  })

  it('rejects a provider that is not set up or not allowed by the session', async () => {
    const { code, authUrl } = await hosted.session()
    expect((await post(code, authUrl, { provider: 'microsoft' })).status).toBe(400)
    const fixed = await hosted.session({ provider: 'gmail' })
    expect((await post(fixed.code, fixed.authUrl, { provider: 'imap' })).status).toBe(400)
    expect(findRefresh((await post(fixed.code, fixed.authUrl, { email: 'ada@example.com' })).page)).toBeDefined()
    const opened = await hosted.open(fixed.authUrl)
    expect((await hosted.call('/auth/authorize/imap', imapForm(fixed.code, opened))).status).toBe(400)
    expect(hosted.mail.attempts).toHaveLength(0)
  })

  it('shows nothing to fill in for a session limited to an OAuth provider', async () => {
    const { code, authUrl } = await hosted.session({ provider: 'gmail', email: 'ada@firm.de' })
    const { page } = await hosted.open(authUrl)
    expect(page).toContain('Continue with Google')
    expect(page).toContain('<span class="address">ada@firm.de</span>')
    expect(page).not.toContain('another provider')
    const response = await post(code, authUrl, { email: 'ada@firm.de' })
    expect(new URL(findRefresh(response.page) ?? '').searchParams.get('login_hint')).toBe('ada@firm.de')
  })

  it("uses the session's address when the post has none", async () => {
    const { code, authUrl } = await hosted.session({ email: 'ada@gmail.com' })
    const posts = [
      await post(code, authUrl, {}),
      await post(code, authUrl, { email: ' ' }),
      {
        page: await (await hosted.call('/auth/authorize', { json: { session: code, state: 's' }, key: true })).text(),
      },
    ]
    for (const { page } of posts) {
      expect(new URL(findRefresh(page) ?? '').searchParams.get('login_hint')).toBe('ada@gmail.com')
    }
    const other = await hosted.session({ email: 'ada@gmx.de' })
    expect(fieldValue((await post(other.code, other.authUrl, {})).page, 'email')).toBe('ada@gmx.de')
  })

  it('explains that the provider of a session is no longer configured, instead of asking for a password', async () => {
    const { code, authUrl } = await hosted.session({ provider: 'gmail', email: 'ada@gmail.com' })
    const later = await serveHosted(db, { logins: {} })
    const opened = await later.call(`${later.url}${authUrl.slice(hosted.url.length)}`, { headers: HTML_ACCEPT })
    const posted = await later.call('/auth/authorize', { json: { session: code, state: 's' }, headers: HTML_ACCEPT })
    for (const response of [opened, posted]) {
      const page = await response.text()
      expect([response.status, page]).toEqual([400, expect.stringContaining('data-code="consent_refused"')])
      expect(page).not.toContain('type="password"')
    }
    await later.close()
  })

  it('asks for an address or a provider when both are missing', async () => {
    const { code, authUrl } = await hosted.session()
    expect((await post(code, authUrl, { email: '' })).page).toContain('or choose your provider')
  })
})
