import { afterEach, beforeEach, expect, it } from 'vitest'
import { BROWSER_ACCEPT, type Hosted, imapForm, serveHosted } from '../../../../test/kit/accounts/hosted.ts'
import { describeOneDatabase } from '../../../../test/kit/database/database.ts'
import { fixedClock } from '../../../platform/time/clock.ts'

const BROWSER = { accept: BROWSER_ACCEPT }
const REDIRECT = 'https://app.example/done?own=1'

/** The query of the link with this text, or undefined. */
function findLink(page: string, text: string): Record<string, string> | undefined {
  const href = new RegExp(`<a [^>]*href="([^"]*)"[^>]*>${text}</a>`).exec(page)?.[1]
  return href === undefined ? undefined : Object.fromEntries(new URL(href.replaceAll('&amp;', '&')).searchParams)
}

describeOneDatabase('the way back to the application', 'sqlite', (open) => {
  let hosted: Hosted
  let clock: ReturnType<typeof fixedClock>
  beforeEach(async () => {
    clock = fixedClock(Date.UTC(2026, 0, 1))
    hosted = await serveHosted(await open(), { authScreen: { name: 'Northwind' }, clock })
  })
  afterEach(() => hosted.close())

  it('is a Cancel link on each step, which returns the state of the application and changes nothing', async () => {
    const { code, authUrl } = await hosted.session({ redirectUri: REDIRECT })
    const opened = await hosted.open(`${authUrl}&state=mine`)
    const cancelled = { own: '1', status: 'cancelled', error: 'consent_denied', session: code, state: 'mine' }
    expect(findLink(opened.page, 'Cancel')).toEqual(cancelled)
    expect(await hosted.status(code)).toMatchObject({ status: 'pending' })
    const form = await hosted.call('/auth/authorize', {
      form: { session: code, state: opened.state, email: 'ada@example.com' },
      headers: { ...BROWSER, cookie: opened.cookie },
    })
    expect(findLink(await form.text(), 'Cancel')).toEqual(cancelled)
  })

  it('returns no state that the page made itself', async () => {
    const { code, authUrl } = await hosted.session({ redirectUri: REDIRECT, provider: 'imap' })
    const { page } = await hosted.open(authUrl)
    expect(findLink(page, 'Cancel')).toEqual({ own: '1', status: 'cancelled', error: 'consent_denied', session: code })
  })

  it('is on the pages of expired and used links, and of foreign forms', async () => {
    const { code, authUrl } = await hosted.session({ redirectUri: REDIRECT })
    const opened = await hosted.open(`${authUrl}&state=mine`)
    const foreign = await hosted.call('/auth/authorize', { form: { session: code, state: 'mine' }, headers: BROWSER })
    expect(findLink(await foreign.text(), 'Return to Northwind')).toMatchObject({
      status: 'error',
      error: 'csrf_failed',
    })

    const connected = await hosted.call('/auth/authorize/imap', imapForm(code, opened))
    expect(await connected.text()).toContain('Taking you back to Northwind.')
    const used = await hosted.open(`${authUrl}&state=mine`)
    expect([used.status, findLink(used.page, 'Return to Northwind')]).toEqual([
      410,
      { own: '1', status: 'error', error: 'session_used', session: code, state: 'mine' },
    ])

    const late = await hosted.session({ redirectUri: REDIRECT })
    clock.advance(31 * 60_000)
    const expired = await hosted.open(late.authUrl)
    expect(expired.page).toContain('This link has expired')
    expect(findLink(expired.page, 'Return to Northwind')).toEqual({
      own: '1',
      status: 'error',
      error: 'session_expired',
      session: late.code,
    })
  })

  it('is on the page of a session whose sign-ins failed too often', async () => {
    hosted.mail.password = 'other'
    const { code, authUrl } = await hosted.session({ redirectUri: REDIRECT, provider: 'imap' })
    const opened = await hosted.open(authUrl)
    for (let count = 0; count < 10; count += 1) await hosted.call('/auth/authorize/imap', imapForm(code, opened))
    const limited = await hosted.call('/auth/authorize/imap', imapForm(code, opened))
    expect([limited.status, findLink(await limited.text(), 'Return to Northwind')]).toEqual([
      429,
      { own: '1', status: 'error', error: 'rate_limited', session: code },
    ])
  })

  it('is absent where no session is known', async () => {
    const unknown = await hosted.open('/auth/authorize?session=unknown')
    expect(unknown.page).toContain('This link is not valid')
    expect(unknown.page).not.toContain('Return to Northwind')
  })

  it('is in the language of the session, also on errors', async () => {
    const { code, authUrl } = await hosted.session({ locale: 'de-AT', redirectUri: REDIRECT })
    const { page } = await hosted.open(authUrl)
    expect(page).toContain('<html lang="de" dir="ltr">')
    expect(findLink(page, 'Abbrechen')).toMatchObject({ status: 'cancelled', session: code })
    clock.advance(31 * 60_000)
    const late = await hosted.open(authUrl)
    expect(findLink(late.page, 'Zurück zu Northwind')).toMatchObject({ error: 'session_expired' })

    const unknown = await hosted.call('/auth/authorize?session=unknown', {
      headers: { ...BROWSER, 'accept-language': 'xx, ja;q=0.8, en;q=0.5' },
    })
    expect(await unknown.text()).toContain('このリンクは無効です')
    const refused = await hosted.call('/auth/sessions', {
      key: true,
      json: { redirectUri: REDIRECT, locale: 'no tag' },
    })
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('body.locale')])
  })
})

describeOneDatabase('the application on its pages', 'sqlite', (open) => {
  it('is the host of the redirect URI when it has no name, and has a logo for each colour scheme', async () => {
    const authScreen = { logoUrl: 'https://cdn.example/a.svg', logoDarkUrl: 'https://dark.example/b.svg' }
    const hosted = await serveHosted(await open(), { authScreen })
    try {
      const { authUrl } = await hosted.session({ redirectUri: REDIRECT })
      const response = await hosted.call(authUrl, { headers: BROWSER })
      const page = await response.text()
      expect(page).toContain('<h1>Connect your mailbox to app.example</h1>')
      expect(page).toContain('<source media="(prefers-color-scheme: dark)" srcset="https://dark.example/b.svg">')
      const policy = response.headers.get('content-security-policy')
      expect(policy).toContain('img-src data: https://cdn.example https://dark.example;')

      const own = await hosted.session({ redirectUri: 'com.example.app:/done' })
      expect((await hosted.open(own.authUrl)).page).toContain('<h1>Connect your mailbox</h1>')
    } finally {
      await hosted.close()
    }
  })
})
