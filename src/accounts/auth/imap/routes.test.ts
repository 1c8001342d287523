import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  BROWSER_ACCEPT,
  fieldValue,
  findRefresh,
  type Hosted,
  IMAP_FIELDS,
  imapForm,
  localGuard,
  serveHosted,
} from '../../../../test/kit/accounts/hosted.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { memoryLog } from '../../../../test/kit/service/memory-log.ts'
import { listening } from '../../../../test/servers/listener.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import { GuardError } from '../../../platform/net/index.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { ProviderError } from '../../../providers/contract/index.ts'
import { imapProvider } from '../../../providers/imap/provider.ts'

const JSON_ACCEPT = { accept: 'application/json' }
const PATH = '/auth/authorize/imap'

describeEachDatabase('the IMAP form', (open) => {
  let hosted: Hosted
  beforeEach(async () => {
    hosted = await serveHosted(await open())
  })
  afterEach(() => hosted.close())

  /** Opens a new session's link and posts the form. */
  async function submit(fields: Record<string, string>, session: Record<string, unknown> = {}) {
    const { code, authUrl } = await hosted.session(session)
    const opened = await hosted.open(authUrl)
    const response = await hosted.call(PATH, imapForm(code, opened, fields))
    return { code, opened, status: response.status, headers: response.headers, page: await response.text() }
  }

  const json = (body: Record<string, unknown>) => hosted.call(PATH, { json: body, headers: JSON_ACCEPT })

  it('reads its fields as text and treats empty ones as absent', async () => {
    await submit({ port: '', secure: '', mailbox: '', smtpHost: '', allowSelfSigned: '' })
    await submit({ port: '143', allowSelfSigned: 'true', mailbox: 'Work/Größe', email: ' ada@example.com ' })
    await submit({ port: '143', secure: 'true' })
    await submit({ port: '993', secure: 'false' })
    expect(hosted.mail.attempts.map(({ settings }) => settings.imap)).toEqual([
      {
        host: 'imap.example.com',
        port: 993,
        username: 'ada',
        security: 'tls',
        allowSelfSigned: false,
        mailbox: 'INBOX',
      },
      {
        host: 'imap.example.com',
        port: 143,
        username: 'ada',
        security: 'starttls',
        allowSelfSigned: true,
        mailbox: 'Work/Größe',
      },
      {
        host: 'imap.example.com',
        port: 143,
        username: 'ada',
        security: 'tls',
        allowSelfSigned: false,
        mailbox: 'INBOX',
      },
      {
        host: 'imap.example.com',
        port: 993,
        username: 'ada',
        security: 'starttls',
        allowPlain: true,
        allowSelfSigned: false,
        mailbox: 'INBOX',
      },
    ])
  })

  it('accepts JSON with numbers and booleans, without a cookie', async () => {
    const { code } = await hosted.session()
    const response = await json({
      session: code,
      state: 'mine',
      ...IMAP_FIELDS,
      port: 143,
      secure: false,
      allowSelfSigned: true,
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(hosted.mail.attempts[0]?.settings.imap).toMatchObject({
      port: 143,
      security: 'starttls',
      allowSelfSigned: true,
    })
    expect(new URL(findRefresh(await response.text()) ?? '').searchParams.get('state')).toBe('mine')
  })

  it('returns to the application by a link and a refresh, never a redirect, and removes its cookie', async () => {
    const { code, status, headers, page } = await submit({}, { redirectUri: 'https://app.example/done?own=1#top' })
    const { accountId } = await hosted.status(code)
    const target = `https://app.example/done?own=1&status=success&accountId=${accountId}&provider=imap&email=ada%40example.com&session=${code}#top`
    expect([status, headers.get('location'), findRefresh(page)]).toEqual([200, null, target])
    expect(page).toContain(`href="${target.replaceAll('&', '&amp;')}"`)
    expect(headers.getSetCookie().at(-1)).toMatch(/^posthorn_auth_\w{8}=; Max-Age=0; /)
  })

  it('returns the state that the application chose, but not one of its own', async () => {
    const { code, authUrl } = await hosted.session()
    const opened = await hosted.open(`${authUrl}&state=chosen%20one`)
    const response = await hosted.call(PATH, imapForm(code, opened))
    expect(new URL(findRefresh(await response.text()) ?? '').searchParams.get('state')).toBe('chosen one')
    const minted = await submit({})
    expect(new URL(findRefresh(minted.page) ?? '').searchParams.has('state')).toBe(false)
  })

  it('stores customUserId with the account', async () => {
    const { code } = await submit({}, { customUserId: 'user-7' })
    const first = (await hosted.status(code)).accountId
    expect((await hosted.status((await submit({}, { customUserId: 'user-7' })).code)).accountId).toBe(first)
    expect((await hosted.status((await submit({})).code)).accountId).not.toBe(first)
  })

  it('shows each error at its field and keeps all input except the password', async () => {
    const { status, page } = await submit({
      email: 'nobody',
      host: 'https://x/',
      port: '70000',
      username: '',
      password: '',
      secure: 'perhaps',
    })
    expect(status).toBe(200)
    expect(page).toContain('role="alert"')
    for (const name of ['email', 'host', 'port', 'password', 'secure']) {
      expect(page).toMatch(new RegExp(`id="${name}"[^>]* aria-invalid="true" aria-describedby="${name}-error`))
      expect(page).toContain(`<p class="error" id="${name}-error">`)
      expect(page).toContain(`<a href="#${name}">`)
    }
    expect([fieldValue(page, 'host'), fieldValue(page, 'port'), fieldValue(page, 'password')]).toEqual([
      'https://x/',
      '70000',
      '',
    ])
    expect(page).toMatch(/<details class="more"[^>]* open>/)
    expect(hosted.mail.attempts).toHaveLength(0)
  })

  it('keeps the settings for sending and for the calendar while the user chooses a folder', async () => {
    const { code, authUrl } = await hosted.session({ provider: 'imap' })
    const opened = await hosted.open(authUrl)
    const servers = { smtpHost: 'smtp.example.com', smtpPort: '587', caldavUrl: 'https://dav.example.com/' }
    const first = { ...servers, smtpPassword: 'other', intent: 'folders' }
    const page = await (await hosted.call(PATH, imapForm(code, opened, first))).text()
    const names = [...Object.keys(servers), 'passwordToken'] as const
    const carried = Object.fromEntries(names.map((name) => [name, fieldValue(page, name)]))
    expect(carried).toMatchObject(servers)
    const done = await hosted.call(PATH, imapForm(code, opened, { ...carried, password: '' }))
    expect(await done.text()).toContain('Mailbox connected')
    expect(hosted.mail.attempts.at(-1)).toMatchObject({
      settings: { smtp: { host: 'smtp.example.com', port: 587 }, caldav: { url: 'https://dav.example.com/' } },
      secrets: { password: 'right', smtpPassword: 'other' },
    })
  })

  it('returns errors with their paths as JSON to API clients', async () => {
    const { code } = await hosted.session()
    const response = await json({ session: code, state: 's', email: 'no', port: 'x' })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      success: false,
      error: {
        code: 'validation_failed',
        details: expect.arrayContaining(
          ['email', 'host', 'username', 'password', 'port'].map((name) =>
            expect.objectContaining({ path: `body.${name}` }),
          ),
        ),
      },
    })
  })

  it.each([
    ['imap_auth_failed', () => new ProviderError('auth_expired', '* NO [AUTHENTICATIONFAILED] secret greeting')],
    ['imap_tls', () => new ProviderError('tls', 'secret greeting')],
    ['imap_unreachable', () => new ProviderError('unavailable', 'ECONNREFUSED secret greeting')],
    ['imap_unreachable', () => new ProviderError('rate_limited', 'secret greeting')],
    ['imap_unreachable', () => new GuardError('refused', '169.254.169.254 secret greeting; see PRIVATE_TARGETS')],
    ['imap_unreachable', () => new GuardError('unresolved', 'secret greeting')],
  ])('shows %s and no text of the server', async (code, failure) => {
    hosted.mail.failure = failure()
    const { page, status, code: session } = await submit({ password: 'geheim' })
    expect([status, page]).toEqual([200, expect.stringContaining(`data-code="${code}"`)])
    const response = await json({ session, state: 's', ...IMAP_FIELDS })
    const body = await response.text()
    expect([response.status, body]).toEqual([400, expect.stringContaining(`"code":"${code}"`)])
    for (const text of [page, body]) expect(text).not.toMatch(/secret greeting|PRIVATE_TARGETS|169\.254|geheim/)
    expect(await hosted.status(session)).toMatchObject({ status: 'failed', failureCode: code, accountId: null })
  })

  it.each([
    '169.254.169.254',
    '[fd00:ec2::254]',
    '::ffff:169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '10.0.0.1',
    'metadata.google.internal',
    'no-such-name.invalid',
  ])('does not connect to %s and gives the same error as for any unreachable host', async (host) => {
    const guarded = await serveHosted(await open(), {
      imap: imapProvider({ guard: localGuard, clock: systemClock }).mail,
    })
    const { code } = await guarded.session()
    const response = await guarded.call(PATH, {
      json: { session: code, state: 's', ...IMAP_FIELDS, host },
      headers: JSON_ACCEPT,
    })
    const { error } = (await response.json()) as { error: { code: string; message: string } }
    expect([response.status, error.code]).toEqual([400, 'imap_unreachable'])
    expect(error.message).toBe(
      'Cannot reach a mail server at this host and port. Check both, and whether the port uses TLS.',
    )
    await guarded.close()
  })

  it('can be submitted again after a failure', async () => {
    const { code, authUrl } = await hosted.session()
    const opened = await hosted.open(authUrl)
    await hosted.call(PATH, imapForm(code, opened, { password: 'wrong' }))
    expect(await hosted.status(code)).toMatchObject({ status: 'failed' })
    await hosted.call(PATH, imapForm(code, opened))
    expect(await hosted.status(code)).toMatchObject({ status: 'completed', failureCode: null })
  })

  it('reports a missing folder without counting a failed sign-in', async () => {
    const { code, authUrl } = await hosted.session()
    const opened = await hosted.open(authUrl)
    for (let index = 0; index < 12; index += 1) {
      const response = await hosted.call(PATH, imapForm(code, opened, { mailbox: 'Nowhere' }))
      expect(await response.text()).toContain('The folder does not exist on the mail server.')
    }
    expect(await hosted.accountCount()).toBe(0)
  })

  it('allows ten failed sign-ins per session, in parallel and over both routes', async () => {
    const { code, authUrl } = await hosted.session()
    const opened = await hosted.open(authUrl)
    hosted.mail.password = 'another'
    const body = { session: code, state: 'one', ...IMAP_FIELDS }
    const responses = await Promise.all(
      Array.from({ length: 15 }, (_, index) =>
        index % 2 === 0
          ? hosted.call('/auth/authorize/imap/folders', { json: body })
          : hosted.call(PATH, { json: body, headers: JSON_ACCEPT }),
      ),
    )
    expect(responses.map((response) => response.status).sort()).toEqual([...Array(10).fill(400), ...Array(5).fill(429)])
    expect(hosted.mail.attempts).toHaveLength(10)
    hosted.mail.password = 'right'
    const late = await hosted.call(PATH, imapForm(code, opened))
    expect([late.status, Number(late.headers.get('retry-after')) > 60]).toEqual([429, true])
    expect(await late.text()).toContain('Too many attempts')
  })

  it('does not count successful sign-ins', async () => {
    const { code } = await hosted.session()
    const body = { session: code, state: 'one', ...IMAP_FIELDS }
    for (let index = 0; index < 12; index += 1) {
      expect((await hosted.call('/auth/authorize/imap/folders', { json: body })).status).toBe(200)
    }
  })

  it('links one account for two parallel posts, and both lead to the application', async () => {
    const { code, authUrl } = await hosted.session()
    const opened = await hosted.open(authUrl)
    const waiting: (() => void)[] = []
    hosted.mail.beforeResponse = () =>
      new Promise((resolve) => {
        if (waiting.push(resolve) === 2) for (const response of waiting) response()
      })
    const responses = await Promise.all([
      hosted.call(PATH, imapForm(code, opened)),
      hosted.call(PATH, imapForm(code, opened)),
    ])
    expect(responses.map((response) => response.status).sort()).toEqual([200, 410])
    expect(await hosted.accountCount()).toBe(1)
    const used = await responses.find((response) => response.status === 410)?.text()
    expect(used).toContain('This link has been used')
    expect(used).toContain('https://app.example/done?status=success&amp;accountId=acc_')
  })

  it('rejects every later use of a completed session without revealing the account', async () => {
    const { code, opened } = await submit({})
    const calls = [
      hosted.call(`/auth/authorize?session=${code}`, { headers: { accept: BROWSER_ACCEPT } }),
      hosted.call('/auth/authorize', {
        form: { session: code, state: opened.state },
        headers: { accept: BROWSER_ACCEPT },
      }),
      hosted.call(PATH, { ...imapForm(code, opened), headers: { accept: BROWSER_ACCEPT } }),
      json({ session: code, state: 'x', ...IMAP_FIELDS }),
      hosted.call('/auth/authorize/imap/folders', { json: { session: code, state: 'x', ...IMAP_FIELDS } }),
      hosted.call(`/auth/sessions/${code}/start`, { json: { provider: 'imap', state: 'x' }, key: true }),
    ]
    for (const response of await Promise.all(calls)) {
      expect(response.status).toBe(410)
      expect(await response.text()).not.toContain('acc_')
    }
    expect(hosted.mail.attempts).toHaveLength(1)
  })

  it('leaves the session open when linking fails', async () => {
    let full = true
    const limited = await serveHosted(await open(), {
      accounts: {
        licence: { check: () => (full ? Promise.reject(new AppError('licence_limit')) : Promise.resolve()) },
      },
    })
    const { code, authUrl } = await limited.session()
    const opened = await limited.open(authUrl)
    const refused = await limited.call(PATH, imapForm(code, opened))
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining('This app has reached its mailbox limit'),
    ])
    expect(await limited.status(code)).toMatchObject({
      status: 'failed',
      failureCode: 'licence_limit',
      accountId: null,
    })
    full = false
    expect((await limited.call(PATH, imapForm(code, opened))).status).toBe(200)
    expect([await limited.accountCount(), (await limited.status(code)).status]).toEqual([1, 'completed'])
    await limited.close()
  })

  it('allows only the ports of FORM_PORTS on every host, and names the setting only in the log', async () => {
    const { log, entries } = memoryLog()
    const strict = await serveHosted(await open(), { log, formPorts: [993, 10_143] })
    const { code } = await strict.session()
    const submitTo = async (server: Record<string, string>) => {
      const body = { session: code, state: 's', ...IMAP_FIELDS, ...server }
      const response = await strict.call(PATH, { json: body, headers: JSON_ACCEPT })
      return { status: response.status, body: await response.text() }
    }
    for (const host of ['imap.example.com', 'localhost']) {
      const { status, body } = await submitTo({ host, port: '22' })
      expect([status, body]).toEqual([400, expect.stringContaining('must use one of the ports 993, 10143')])
      expect(body).not.toContain('FORM_PORTS')
      expect(entries.pop()).toMatchObject({ message: expect.stringContaining('FORM_PORTS'), operation: 'auth.imap' })
    }
    expect((await submitTo({ smtpPort: '6379' })).body).toContain('"path":"body.smtpPort"')
    expect(strict.mail.attempts).toHaveLength(0)
    expect((await submitTo({ host: 'localhost', port: '10143' })).status).toBe(200)
    await strict.close()
  })

  it('gives one response, after one time, for closed, silent and other ports, and for refused and unknown hosts', async () => {
    const { log, entries } = memoryLog()
    const silent = await listening(() => {})
    const web = await listening((socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))
    const rude = await listening((socket) => socket.destroy())
    const closed = await listening(() => {})
    await closed.close()
    const ports = [silent.port, web.port, rude.port, closed.port]
    const limits = { verifyMs: 300 }
    const probed = await serveHosted(await open(), {
      log,
      formPorts: ports,
      unreachableMs: 600,
      imap: imapProvider({ guard: localGuard, clock: systemClock, limits }).mail,
    })
    const targets = [
      ...ports.flatMap((port) => [
        { host: 'localhost', port: String(port) },
        { host: 'localhost', port: String(port), secure: 'false' },
      ]),
      { host: '10.0.0.1', port: String(closed.port) },
      { host: 'no-such-name.invalid', port: String(closed.port) },
    ]
    const seen = await Promise.all(
      targets.map(async (server) => {
        const { code, authUrl } = await probed.session({ provider: 'imap' })
        const opened = await probed.open(authUrl)
        const startedMs = systemClock.monotonic()
        const response = await probed.call(PATH, imapForm(code, opened, server))
        const page = await response.text()
        const alert = /<div class="alert".*?<\/div><\/div>/s.exec(page)?.[0]
        return { status: response.status, alert, tookMs: systemClock.monotonic() - startedMs }
      }),
    )
    expect(new Set(seen.map(({ status, alert }) => `${status} ${alert}`)).size).toBe(1)
    expect(seen[0]?.alert).toContain('data-code="imap_unreachable"')
    for (const { tookMs } of seen) expect(tookMs).toBeGreaterThanOrEqual(590)
    expect(entries.some(({ error }) => JSON.stringify(error)?.includes('PRIVATE_TARGETS'))).toBe(true)
    await probed.close()
    for (const listener of [silent, web, rude]) await listener.close()
  })

  it('lists folders, seals the password, and connects without asking for it again', async () => {
    const { code, authUrl } = await hosted.session()
    const opened = await hosted.open(authUrl)
    const listed = await hosted.call(
      PATH,
      imapForm(code, opened, { intent: 'folders', password: 'right', port: '993' }),
    )
    const page = await listed.text()
    expect(listed.status).toBe(200)
    expect([...page.matchAll(/<option value="([^"]+)"( selected)?>[^<]/g)].slice(0, 3).map(([, path]) => path)).toEqual(
      ['INBOX', 'Work/Größe', 'Sent'],
    )
    expect(page).not.toContain('"right"')
    expect(await hosted.status(code)).toMatchObject({ status: 'started' })
    const passwordToken = fieldValue(page, 'passwordToken')
    const rest = { password: '', passwordToken, mailbox: 'Work/Größe', port: '993' }

    // The user entered another server, which must not receive the password.
    const moved = await hosted.call(PATH, imapForm(code, opened, { ...rest, host: 'evil.example' }))
    expect(await moved.text()).toContain('Enter the password.')
    expect(hosted.mail.attempts.map(({ settings }) => settings.imap?.host)).toEqual(['imap.example.com'])

    const done = await hosted.call(PATH, imapForm(code, opened, rest))
    expect(await done.text()).toContain('Mailbox connected')
    expect(hosted.mail.attempts.at(-1)).toMatchObject({
      secrets: { password: 'right' },
      settings: { imap: { mailbox: 'Work/Größe' } },
    })
  })

  it('lists selectable folders as JSON, without an email address', async () => {
    const { code } = await hosted.session()
    const { host, username, password } = IMAP_FIELDS
    const body = { session: code, state: 'x', host, username, password, port: '993', secure: true }
    const response = await hosted.call('/auth/authorize/imap/folders', { json: body })
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        folders: [
          { path: 'INBOX', name: 'INBOX', delimiter: '/', specialUse: '\\Inbox' },
          { path: 'Work/Größe', name: 'Größe', delimiter: '/', specialUse: null },
          { path: 'Sent', name: 'Sent', delimiter: '/', specialUse: '\\Sent' },
        ],
      },
    ])
    expect(await hosted.accountCount()).toBe(0)
    const refused = await hosted.call('/auth/authorize/imap/folders', { json: { ...body, password: 'wrong' } })
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { code: 'imap_auth_failed', type: 'provider' } },
    ])
    const invalid = await hosted.call('/auth/authorize/imap/folders', {
      json: { session: code, state: 'x' },
      headers: { accept: BROWSER_ACCEPT },
    })
    expect(await invalid.json()).toMatchObject({
      error: {
        code: 'validation_failed',
        details: expect.arrayContaining([expect.objectContaining({ path: 'body.host' })]),
      },
    })
  })

  it('suggests the right name for a misspelled member of JSON, and ignores one of a form', async () => {
    const { code } = await hosted.session()
    const { username: user_name, ...rest } = IMAP_FIELDS
    const body = { session: code, state: 'x', ...rest, user_name, allow_self_signed: true }
    for (const path of [PATH, `${PATH}/folders`]) {
      const response = await hosted.call(path, { json: body, headers: JSON_ACCEPT })
      expect([response.status, await response.json()]).toMatchObject([
        400,
        {
          error: {
            code: 'validation_failed',
            details: [
              { path: 'body.user_name', message: 'is unknown; use "username"' },
              { path: 'body.allow_self_signed', message: 'is unknown; use "allowSelfSigned"' },
            ],
          },
        },
      ])
    }
    expect(await hosted.status(code)).toMatchObject({ status: 'pending' })
    expect((await submit({ allow_self_signed: 'true' })).page).toContain('Mailbox connected')
  })

  it('rejects a body of another content type', async () => {
    const response = await hosted.call(PATH, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', ...JSON_ACCEPT },
    })
    expect([400, 415]).toContain(response.status)
  })
})
