import { afterEach, beforeEach, expect, it } from 'vitest'
import { microsoftSite } from '../../../../test/kit/accounts/consent.ts'
import {
  BROWSER_ACCEPT,
  fieldValue,
  findRefresh,
  type Hosted,
  type HostedOptions,
  serveHosted,
} from '../../../../test/kit/accounts/hosted.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import type { Microsoft } from '../../../../test/servers/microsoft.ts'
import { microsoftAt } from '../../../../test/servers/microsoft-mailbox.ts'
import type { Db } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'

const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const [ADA, SUPPORT, SALES, BOARD] = [
  'ada@acme.example',
  'support@acme.example',
  'sales@acme.example',
  'board@acme.example',
]
const DONE = 'https://app.example/done'

describeEachDatabase('the choice of shared mailboxes', (open) => {
  let site: Awaited<ReturnType<typeof microsoftSite>>
  let microsoft: Microsoft
  let hosted: Hosted
  let db: Db
  let isLicenceFull: boolean
  beforeEach(async () => {
    site = await microsoftSite()
    microsoft = site.server as Microsoft
    for (const user of [ADA, SUPPORT, SALES, BOARD]) microsoft.addUser(user, { tenant: TENANT })
    for (const mailbox of [SUPPORT, SALES]) microsoft.applications.share(mailbox, ADA, 'send')
    db = await open()
    isLicenceFull = false
    const { mail } = microsoftAt(microsoft.url)
    const licence = {
      async check(_tx: unknown, count: () => Promise<number>) {
        if (isLicenceFull && (await count()) > 0) throw new AppError('licence_limit')
      },
    }
    const options: HostedOptions = {
      logins: { microsoft: site.login },
      mail: (provider) => (provider === 'microsoft' ? mail : undefined),
      licence,
      accounts: { licence },
    }
    hosted = await serveHosted(db, options)
    microsoft.allowRedirect(`${hosted.url}/providers/microsoft/callback`)
  })
  afterEach(async () => {
    await hosted.close()
    await microsoft.close()
  })

  /** Signs in from the hosted page. Returns the page that follows, and how to post its form. */
  async function signIn(body: Record<string, unknown> = {}) {
    const { code, authUrl } = await hosted.session({ redirectUri: DONE, sharedMailboxes: true, ...body })
    const opened = await hosted.open(authUrl)
    const headers = { cookie: opened.cookie, accept: BROWSER_ACCEPT }
    const form = { session: code, state: opened.state, provider: 'microsoft', email: ADA }
    const chosen = await (await hosted.call('/auth/authorize', { form, headers })).text()
    const callback = await site.consent(findRefresh(chosen) ?? '', ADA)
    const response = await hosted.call(callback, { headers })
    let page = await response.text()
    return {
      code,
      callback,
      status: response.status,
      location: response.headers.get('location'),
      page: () => page,
      /** Posts the form as the page shows it. Ready mailboxes stay chosen unless a field says otherwise. */
      async post(fields: Record<string, string | undefined> = {}, sent: Record<string, string> = headers) {
        const ready = [...page.matchAll(/name="(ready\d+)"/g)].map(([, name = '']) => [name, 'true'])
        const shown = { session: code, state: opened.state, signIn: fieldValue(page, 'signIn') }
        const all: [string, string | undefined][] = Object.entries({
          ...shown,
          ...Object.fromEntries(ready),
          own: 'true',
          ...fields,
        })
        const form: Record<string, string> = {}
        for (const [name, value] of all) if (value !== undefined) form[name] = value
        const result = await hosted.call('/auth/authorize/mailboxes', { form, headers: sent })
        const text = await result.text()
        if (text.includes('name="signIn"')) page = text
        return { status: result.status, text }
      },
    }
  }

  const accounts = async () =>
    (
      await db.read.selectFrom('accounts').select(['id', 'email', 'paused', 'sharedWith']).orderBy('email').execute()
    ).map(({ email, paused, sharedWith, id }) => ({ email, paused, sharedWith, id }))
  const listed = (text: string) => [...text.matchAll(/<(?:li|h2)>([^<]+)<\/(?:li|h2)>/g)].map(([, item = '']) => item)

  it('connects what the user enters together with the own mailbox, and nothing before that', async () => {
    const flow = await signIn()
    expect([flow.status, flow.page()]).toEqual([200, expect.stringContaining('Add shared mailboxes')])
    expect(await accounts()).toEqual([])
    expect(await hosted.status(flow.code)).toMatchObject({ status: 'started', accountId: null })
    const done = await flow.post({ mailboxes: `${SUPPORT}\r\nSales <${SALES.toUpperCase()}>, ${SUPPORT}` })
    expect(done.text).toContain('Mailboxes connected')
    const [own, sales, support] = (await accounts()).toSorted((a, b) => a.email.localeCompare(b.email))
    expect(own).toMatchObject({ email: ADA, paused: 0, sharedWith: null })
    for (const shared of [sales, support]) expect(shared).toMatchObject({ paused: 0, sharedWith: own?.id })
    expect([sales?.email.toLowerCase(), support?.email]).toEqual([SALES, SUPPORT])
    expect(await accounts()).toHaveLength(3)
    const target = new URL(findRefresh(done.text) ?? '')
    expect(target.searchParams.get('accountId')).toBe(own?.id)
    expect(await hosted.status(flow.code)).toMatchObject({ status: 'completed', accountId: own?.id, email: ADA })
    // The session is used up.
    expect((await flow.post({ mailboxes: BOARD })).status).toBe(410)
    expect(await accounts()).toHaveLength(3)
  })

  it('says what is wrong with each address, keeps those that opened, and connects nothing meanwhile', async () => {
    const flow = await signIn()
    const entered = ['no address', SUPPORT, BOARD, 'nobody@acme.example', ADA].join('\n')
    const first = await flow.post({ mailboxes: entered })
    expect(listed(first.text)).toEqual([
      'Not every mailbox could be opened',
      'no address is not an email address.',
      `${ADA} is your own mailbox.`,
      expect.stringContaining(`${BOARD} does not exist, or you may not open it.`),
      expect.stringContaining('nobody@acme.example does not exist, or you may not open it.'),
    ])
    expect(first.text).toContain(`>${SUPPORT}</label>`)
    expect(first.text).toMatch(
      /<textarea[^>]*>no address\nada@acme\.example\nboard@acme\.example\nnobody@acme\.example</,
    )
    expect(await accounts()).toEqual([])
    microsoft.fail({ as: 'unavailable', user: SALES, times: 100 })
    expect(listed((await flow.post({ mailboxes: SALES })).text)).toEqual([
      'Not every mailbox could be opened',
      `${SALES} could not be checked, because Microsoft did not respond. Try again.`,
    ])
    microsoft.faults.clear()
    const before = microsoft.calls.all.length
    const many = Array.from({ length: 11 }, (_, at) => `m${at}@acme.example`).join(' ')
    expect(listed((await flow.post({ mailboxes: many })).text)).toEqual(['Enter at most 10 addresses at a time.'])
    expect(microsoft.calls.all).toHaveLength(before)
    const done = await flow.post({ mailboxes: SALES })
    expect(done.text).toContain('Mailboxes connected')
    expect((await accounts()).map(({ email }) => email)).toEqual([ADA, SALES, SUPPORT])
  })

  it('leaves out the own mailbox, which then stays paused, and a mailbox that was ready', async () => {
    const flow = await signIn()
    expect(listed((await flow.post({ own: undefined })).text)).toEqual(['Enter a shared mailbox, or connect your own.'])
    await flow.post({ mailboxes: `${SUPPORT} ${SALES} ${BOARD}`, own: undefined })
    expect(flow.page()).not.toMatch(/name="own"[^>]* checked/)
    const sales = /for="(ready\d)">sales/.exec(flow.page())?.[1] ?? ''
    await flow.post({ mailboxes: BOARD, own: undefined, [sales]: undefined })
    expect(flow.page()).not.toMatch(new RegExp(`name="${sales}"[^>]* checked`))
    await flow.post({ own: undefined, [sales]: undefined })
    expect((await accounts()).map(({ email, paused }) => [email, paused])).toEqual([
      [ADA, 1],
      [SUPPORT, 0],
    ])
    // Once it is connected, the choice is gone, and signing in again changes nothing about the pause.
    const again = await signIn({ email: ADA })
    expect(again.page()).not.toContain('type="checkbox"')
    expect((await again.post()).text).toContain('Mailbox connected')
    expect((await accounts())[0]).toMatchObject({ email: ADA, paused: 1 })
  })

  it('is not shown without the permission, without the option, and after a sign-in that the application began', async () => {
    expect((await signIn({ sharedMailboxes: false })).status).toBe(302)
    microsoft.withholdScopes(ADA, ['Mail.ReadWrite.Shared'])
    expect((await signIn({ customUserId: 'two' })).status).toBe(302)
    microsoft.withholdScopes(ADA, [])
    const { code } = await hosted.session({ redirectUri: DONE, sharedMailboxes: true, customUserId: 'three' })
    const json = { provider: 'microsoft', state: 'mine' }
    const started = await hosted.call(`/auth/sessions/${code}/start`, { key: true, json })
    const { authorizationUrl } = JSON.parse(await started.text())
    const back = await hosted.call(await site.consent(authorizationUrl, ADA))
    expect([back.status, await hosted.accountCount()]).toEqual([302, 3])
  })

  it('asks for the permission on the page before the sign-in', async () => {
    const asked = async (sharedMailboxes: boolean) => {
      const { authUrl } = await hosted.session({ redirectUri: DONE, provider: 'microsoft', sharedMailboxes })
      return (await hosted.open(authUrl)).page.includes('Open mailboxes that others share with you')
    }
    expect([await asked(true), await asked(false)]).toEqual([true, false])
  })

  it('works only in the browser that signed in, for its own session, and for a limited number of guesses', async () => {
    const flow = await signIn()
    const other = await signIn({ customUserId: 'other' })
    const signInOf = (page: string) => fieldValue(page, 'signIn')
    expect((await flow.post({ mailboxes: SUPPORT }, { accept: BROWSER_ACCEPT })).status).toBe(403)
    for (const text of ['', 'x', signInOf(other.page())]) {
      const refused = await flow.post({ mailboxes: SUPPORT, signIn: text })
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('data-code="consent_used"')])
    }
    expect(microsoft.calls.all.filter(({ path }) => path.includes('support'))).toEqual([])
    expect(flow.page()).not.toContain('eyJ')
    for (let count = 0; count < 10; count += 1) {
      expect((await flow.post({ mailboxes: `guess${count}@acme.example` })).status).toBe(200)
    }
    const limited = await flow.post({ mailboxes: 'guess@acme.example' })
    expect([limited.status, limited.text]).toEqual([429, expect.stringContaining('data-code="rate_limited"')])
  })

  it('refuses another mailbox than the session reconnects, before it asks for shared ones', async () => {
    microsoft.addUser('grace@acme.example', { tenant: TENANT })
    const first = await signIn({ email: ADA, customUserId: 'user' })
    await first.post()
    const { code, authUrl } = await hosted.session({
      redirectUri: DONE,
      sharedMailboxes: true,
      email: ADA,
      customUserId: 'user',
    })
    const opened = await hosted.open(authUrl)
    const headers = { cookie: opened.cookie, accept: BROWSER_ACCEPT }
    const form = { session: code, state: opened.state }
    const chosen = await (await hosted.call('/auth/authorize', { form, headers })).text()
    const back = await hosted.call(await site.consent(findRefresh(chosen) ?? '', 'grace@acme.example'), { headers })
    expect(await back.text()).toContain('data-code="mailbox_mismatch"')
  })

  it('connects all or nothing', async () => {
    const flow = await signIn()
    isLicenceFull = true
    const refused = await flow.post({ mailboxes: SUPPORT })
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('data-code="licence_limit"')])
    expect(await accounts()).toEqual([])
    expect(await hosted.status(flow.code)).toMatchObject({ status: 'failed', failureCode: 'licence_limit' })
    isLicenceFull = false
    expect((await flow.post({ mailboxes: SUPPORT })).text).toContain('Mailboxes connected')
    expect(await accounts()).toHaveLength(2)
  })

  it('asks for a new sign-in when the provider refuses the tokens', async () => {
    const flow = await signIn()
    microsoft.expireAccessTokens()
    const refused = await flow.post({ mailboxes: SUPPORT })
    expect(refused.text).toContain('data-code="consent_used"')
    expect(await accounts()).toEqual([])
  })
})
