import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ConsentSite, googleSite, microsoftSite } from '../../../../test/kit/accounts/consent.ts'
import {
  BROWSER_ACCEPT,
  findRefresh,
  type Hosted,
  type HostedOptions,
  serveHosted,
} from '../../../../test/kit/accounts/hosted.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import type { Db } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import { fixedClock } from '../../../platform/time/clock.ts'
import { type MailAccess, ProviderError } from '../../../providers/contract/index.ts'

const USER = 'ada@example.com'
const DONE = 'https://app.example/done?own=1'

describeEachDatabase('connecting an OAuth provider', (open) => {
  describe.each([
    ['gmail', googleSite],
    ['microsoft', microsoftSite],
  ])('%s', (_name, startSite) => {
    let site: ConsentSite
    let hosted: Hosted
    let db: Db
    beforeEach(async () => {
      site = await startSite()
      site.server.addUser(USER)
    })
    afterEach(async () => {
      await hosted.close()
      await site.server.close()
    })

    const serve = async (options: HostedOptions = {}) => {
      db = await open()
      const authScreen = { name: 'Northwind' }
      hosted = await serveHosted(db, { logins: { [site.provider]: site.login }, authScreen, ...options })
      site.server.allowRedirect(`${options.publicUrl ?? hosted.url}/providers/${site.provider}/callback`)
    }

    /** Opens a new link and continues to the consent page. `cookie` is the browser's. */
    async function startConsent(body: Record<string, unknown> = {}, state = '') {
      const { code, authUrl } = await hosted.session({ redirectUri: DONE, ...body })
      const opened = await hosted.open(authUrl + state)
      const form = { session: code, state: opened.state, provider: site.provider, email: USER }
      const headers = { cookie: opened.cookie, accept: BROWSER_ACCEPT }
      const response = await hosted.call('/auth/authorize', { form, headers })
      return { code, authUrl, cookie: opened.cookie, consentUrl: findRefresh(await response.text()) ?? '' }
    }

    const openCallback = async (url: string, cookie = '') => {
      const response = await hosted.call(url, { headers: { cookie, accept: BROWSER_ACCEPT } })
      const page = await response.text()
      return { status: response.status, location: response.headers.get('location'), headers: response.headers, page }
    }

    async function connect(body: Record<string, unknown> = {}) {
      const flow = await startConsent(body)
      let response = await openCallback(await site.consent(flow.consentUrl, USER), flow.cookie)
      // Google sends no refresh token for a repeated consent, so the service requests consent again.
      if (response.location?.startsWith(site.server.url)) {
        response = await openCallback(await site.consent(response.location, USER), flow.cookie)
      }
      return { ...flow, ...response }
    }

    const findLink = (page: string, label: string) =>
      new RegExp(`<a [^>]*href="([^"]*)"[^>]*>${label}</a>`).exec(page)?.[1]?.replaceAll('&amp;', '&')

    /** Status and error code of an error page. */
    const readCode = ({ status, page }: { status: number; page: string }) => [
      status,
      / data-code="(\w+)"/.exec(page)?.[1],
    ]

    it('links the account and redirects to the application with its query and state, and no secrets', async () => {
      await serve()
      const { code, cookie, consentUrl } = await startConsent({ customUserId: 'user-7' }, '&state=mine')
      const back = await site.consent(consentUrl, USER)
      const response = await openCallback(back, cookie)
      expect(response.status).toBe(302)
      const status = await hosted.status(code)
      expect(status).toMatchObject({ status: 'completed', provider: site.provider, email: USER })
      expect(response.location).toBe(
        `${DONE}&${new URLSearchParams({
          status: 'success',
          accountId: String(status.accountId),
          provider: site.provider,
          email: USER,
          session: code,
          state: 'mine',
        })}`,
      )
      expect(response.headers.getSetCookie().join()).toContain('Max-Age=0')
      const row = await db.read.selectFrom('accounts').selectAll().executeTakeFirstOrThrow()
      expect(row).toMatchObject({ provider: site.provider, customUserId: 'user-7', status: 'connecting' })
      expect(JSON.parse(row.tokens)).toMatchObject({ hasRefreshToken: true })
      const flows = await db.read.selectFrom('oauthFlows').selectAll().execute()
      const secrets = [
        new URL(back).searchParams.get('code') ?? '',
        new URL(consentUrl).searchParams.get('state') ?? '',
      ]
      for (const secret of [...secrets, code]) expect(JSON.stringify([flows, row])).not.toContain(secret)
    })

    it('accepts a callback once, also of several parallel ones', async () => {
      await serve()
      const { code, cookie, consentUrl } = await startConsent()
      const back = await site.consent(consentUrl, USER)
      const responses = await Promise.all([
        openCallback(back, cookie),
        openCallback(back, cookie),
        openCallback(back, cookie),
      ])
      expect(responses.map(({ status }) => status).sort()).toEqual([302, 400, 400])
      expect(readCode(await openCallback(back, cookie))).toEqual([400, 'consent_used'])
      expect(await hosted.accountCount()).toBe(1)
      expect(await hosted.status(code)).toMatchObject({ status: 'completed' })
    })

    it('requires the cookie of the page that started it, and none when the API started it', async () => {
      await serve()
      const { cookie, consentUrl } = await startConsent()
      const back = await site.consent(consentUrl, USER)
      expect(readCode(await openCallback(back))).toEqual([400, 'csrf_failed'])
      expect((await openCallback(back, cookie)).status).toBe(302)
      const { code } = await hosted.session()
      const json = { provider: site.provider, state: 'mine', email: USER }
      const started = await hosted.call(`/auth/sessions/${code}/start`, { json, key: true })
      const { authorizationUrl } = (await started.json()) as { authorizationUrl: string }
      const elsewhere = await openCallback(await site.consent(authorizationUrl, USER))
      expect([elsewhere.status, new URL(elsewhere.location ?? '').searchParams.get('state')]).toEqual([302, 'mine'])
    })

    it.each([
      ['the start of the session', (code: string) => `/auth/sessions/${code}/start`],
      ['a JSON post to the hosted page', () => '/auth/authorize'],
    ])('does not let the holder of a link have another person consent through %s', async (_way, buildPath) => {
      await serve()
      const { code, authUrl } = await hosted.session({ redirectUri: DONE, customUserId: 'attacker' })
      const json = { session: code, state: 'mine', provider: site.provider }
      const request = async (headers: Record<string, string>) => {
        const response = await hosted.call(buildPath(code), { json, headers })
        return { status: response.status, text: await response.text() }
      }
      expect((await request({ accept: 'application/json' })).status).toBe(401)
      expect((await request({ accept: BROWSER_ACCEPT })).status).toBe(401)

      const { cookie } = await hosted.open(`${authUrl}&state=mine`)
      const { status, text } = await request({ cookie })
      expect(status).toBe(200)
      const consentUrl = findRefresh(text) ?? JSON.parse(text).authorizationUrl
      const back = await site.consent(consentUrl, USER)
      expect(readCode(await openCallback(back))).toEqual([400, 'csrf_failed'])
      expect(await hosted.accountCount()).toBe(0)
      expect((await openCallback(back, cookie)).status).toBe(302)
    })

    it('accepts a JSON post to the hosted page with the key, from a browser without cookies', async () => {
      await serve()
      const { code } = await hosted.session({ redirectUri: DONE })
      const json = { session: code, state: 'mine', email: USER, provider: site.provider }
      const response = await hosted.call('/auth/authorize', { json, key: true })
      const back = await site.consent(findRefresh(await response.text()) ?? '', USER)
      const { status, location } = await openCallback(back)
      expect([status, new URL(location ?? '').searchParams.get('state')]).toEqual([302, 'mine'])
      const again = await hosted.call('/auth/authorize', { json: { ...json, state: 'other' }, key: true })
      expect(again.status).toBe(410)
    })

    it('reports denied access and accepts another attempt with the same link', async () => {
      await serve()
      const { code, authUrl, cookie, consentUrl } = await startConsent()
      site.server.denyConsent(USER)
      const denied = await openCallback(await site.consent(consentUrl, USER), cookie)
      expect(readCode(denied)).toEqual([400, 'consent_denied'])
      expect(denied.page).toContain(`href="${authUrl}"`)
      expect(findLink(denied.page, 'Return to Northwind')).toBe(
        `${DONE}&status=cancelled&error=consent_denied&session=${code}`,
      )
      expect(await hosted.status(code)).toMatchObject({ status: 'failed', failureCode: 'consent_denied' })
      site.server.denyConsent(USER, false)
      const opened = await hosted.open(authUrl)
      const form = { session: code, state: opened.state, provider: site.provider, email: USER }
      const again = await hosted.call('/auth/authorize', { form, headers: { cookie: opened.cookie } })
      const back = await site.consent(findRefresh(await again.text()) ?? '', USER)
      expect((await openCallback(back, opened.cookie)).status).toBe(302)
      expect(await hosted.status(code)).toMatchObject({ status: 'completed', failureCode: null })
    })

    it('reports a missing permission when the user unchecked a box', async () => {
      await serve()
      site.server.withholdScopes(USER, [site.mailScope])
      const response = await connect()
      expect(readCode(response)).toEqual([400, 'consent_incomplete'])
      expect(await hosted.accountCount()).toBe(0)
    })

    it('rejects unknown states, and paths of providers that are not set up', async () => {
      await serve()
      const path = `/providers/${site.provider}/callback`
      for (const query of ['', '?state=made-up&code=x', '?code=x', '?error=access_denied']) {
        expect(readCode(await openCallback(path + query))).toEqual([400, 'consent_unknown'])
      }
      const other = site.provider === 'gmail' ? 'microsoft' : 'gmail'
      for (const name of [other, 'imap', 'pigeon']) {
        expect(readCode(await openCallback(`/providers/${name}/callback?state=x&code=y`))).toEqual([
          404,
          'route_not_found',
        ])
      }
      const response = await hosted.call(path, { headers: { accept: 'application/json' } })
      expect([response.status, await response.json()]).toMatchObject([400, { error: { code: 'consent_unknown' } }])
    })

    it('fails after the link has expired, and when the licence is full', async () => {
      const clock = fixedClock(Date.now())
      let full = false
      const licence = {
        check: async () => {
          if (full) throw new AppError('licence_limit')
        },
      }
      await serve({ clock, accounts: { licence } })
      const late = await startConsent()
      const back = await site.consent(late.consentUrl, USER)
      clock.advance(31 * 60_000)
      expect(readCode(await openCallback(back, late.cookie))).toEqual([400, 'session_expired'])
      const { code, cookie, consentUrl } = await startConsent({}, '&state=mine')
      full = true
      const refused = await openCallback(await site.consent(consentUrl, USER), cookie)
      expect(readCode(refused)).toEqual([403, 'licence_limit'])
      expect(findLink(refused.page, 'Return to Northwind')).toBe(
        `${DONE}&status=error&error=licence_limit&session=${code}&state=mine`,
      )
      expect(refused.page).not.toContain('Try again')
      expect(await hosted.status(code)).toMatchObject({ status: 'failed', failureCode: 'licence_limit' })
      expect(await hosted.accountCount()).toBe(0)
    })

    it('distinguishes a provider outage from a configuration error', async () => {
      await serve()
      const { cookie, consentUrl } = await startConsent()
      const back = new URL(await site.consent(consentUrl, USER))
      back.searchParams.set('code', 'made-up')
      expect(readCode(await openCallback(back.href, cookie))).toEqual([400, 'consent_used'])
      for (const [error, expected] of [
        ['temporarily_unavailable', 'consent_failed'],
        ['unauthorized_client', 'consent_refused'],
      ]) {
        const flow = await startConsent()
        const state = new URL(flow.consentUrl).searchParams.get('state') ?? ''
        const query = new URLSearchParams({ error: error ?? '', state })
        const response = await openCallback(`/providers/${site.provider}/callback?${query}`, flow.cookie)
        expect(readCode(response)).toEqual([400, expected])
        expect(response.page.includes('Try again</a>')).toBe(expected === 'consent_failed')
      }
    })

    it('links no account without a mailbox, but does so when the mailbox is temporarily unavailable', async () => {
      let trouble = new ProviderError('rejected', 'there is none')
      const verify = async (access: MailAccess): Promise<{ folders: [] }> => {
        expect(await access.accessToken?.()).toEqual(expect.any(String))
        throw trouble
      }
      await serve({ mail: () => ({ verify, closeConnections: async () => {} }) })
      expect(readCode(await connect())).toEqual([400, 'mailbox_refused'])
      trouble = new ProviderError('rejected', 'a box was unticked', { missingScope: true })
      expect(readCode(await connect({ forceConsent: true }))).toEqual([400, 'consent_incomplete'])
      expect(await hosted.accountCount()).toBe(0)
      trouble = new ProviderError('unavailable', 'busy')
      expect((await connect({ forceConsent: true })).status).toBe(302)
      expect(await hosted.accountCount()).toBe(1)
    })

    it('asks again for scopes that the account lacks, and updates the account with those granted', async () => {
      await serve()
      const optional = site.login.scopes.at(-1) ?? ''
      const scopes = async () => {
        const rows = await db.read.selectFrom('accounts').select(['tokens']).execute()
        return rows.map(({ tokens }): string[] => JSON.parse(tokens).scopes)
      }
      const prompt = async (body: Record<string, unknown>) =>
        new URL((await startConsent(body)).consentUrl).searchParams.get('prompt')
      site.server.withholdScopes(USER, [optional])
      expect((await connect({ email: USER })).status).toBe(302)
      expect((await scopes())[0]).not.toContain(optional)
      expect([await prompt({}), await prompt({ customUserId: 'other' })]).toEqual(['consent', null])
      site.server.withholdScopes(USER, [])
      expect((await connect()).status).toBe(302)
      expect(await scopes()).toEqual([expect.arrayContaining([optional])])
      expect(await prompt({})).toBe(null)
    })

    it('updates the account of the same user, and creates another for another customUserId', async () => {
      await serve()
      const first = await connect()
      const again = await connect()
      const other = await connect({ customUserId: 'other' })
      const readId = ({ location }: { location: string | null }) =>
        new URL(location ?? '').searchParams.get('accountId')
      expect(readId(again)).toBe(readId(first))
      expect(readId(other)).not.toBe(readId(first))
      expect(await hosted.accountCount()).toBe(2)
    })

    it('reconnects an account at the cap of the licence', async () => {
      let full = false
      const licence = { check: () => (full ? Promise.reject(new AppError('licence_limit')) : Promise.resolve()) }
      await serve({ licence, accounts: { licence } })
      const first = await connect()
      full = true
      const again = await connect({ email: USER })
      expect([again.status, await hosted.accountCount()]).toEqual([302, 1])
      expect((await hosted.status(again.code)).accountId).toBe((await hosted.status(first.code)).accountId)
    })

    it('reconnects an account that lost its grant, with a new refresh token', async () => {
      await serve()
      await connect()
      const lost = await db.transaction((tx) =>
        tx
          .updateTable('accounts')
          .set({ status: 'auth_error', statusReason: 'gone' })
          .returning('id')
          .executeTakeFirstOrThrow(),
      )
      const flow = await startConsent()
      let response = await openCallback(await site.consent(flow.consentUrl, USER), flow.cookie)
      if (site.provider === 'gmail') {
        expect(new URL(response.location ?? '').searchParams.get('prompt')).toBe('consent')
        expect(response.headers.getSetCookie()).toEqual([])
        response = await openCallback(await site.consent(response.location ?? '', USER), flow.cookie)
      }
      expect(new URL(response.location ?? '').searchParams.get('accountId')).toBe(lost.id)
      const row = await db.read.selectFrom('accounts').selectAll().executeTakeFirstOrThrow()
      expect(row).toMatchObject({ status: 'connecting', statusReason: null, accessVersion: 2 })
    })
  })
})
