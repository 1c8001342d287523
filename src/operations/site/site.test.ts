import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BROWSER_ACCEPT } from '../../../test/kit/accounts/hosted.ts'
import { testServer } from '../../../test/kit/http/server.ts'
import type { App } from '../../platform/http/index.ts'
import { site, siteRoutes } from './index.ts'

const HARDENED = {
  'cache-control': 'no-store',
  'content-security-policy': expect.stringMatching(
    /^default-src 'none'; style-src 'nonce-[^']+'.*; form-action 'none'; base-uri 'none'; frame-ancestors 'none'$/,
  ),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

describe('the pages outside the hosted flow', () => {
  let app: App
  beforeAll(() => {
    const pages = site({ authScreen: { name: 'Northwind <b>' }, portal: undefined })
    app = testServer({ errorPage: pages.errorPage })
    siteRoutes(app, pages, 'https://mail.example.com')
    app.get('/things', { config: { access: 'key:read' } }, async () => '')
  })
  afterAll(() => app.close())

  const visit = (url: string, language = 'en') =>
    app.inject({ url, headers: { accept: BROWSER_ACCEPT, 'accept-language': language } })

  it('greet people at the root, in their language and with the brand of the application', async () => {
    const { statusCode, headers, body } = await visit('/', 'de-AT, en;q=0.5')
    expect([statusCode, headers]).toMatchObject([200, { ...HARDENED, 'content-type': 'text/html; charset=utf-8' }])
    expect(body).toContain('<html lang="de" dir="ltr">')
    expect(body).toContain('<title>Posthorn läuft · Northwind &lt;b&gt;</title>')
    const links = [...body.matchAll(/<a href="([^"]*)"/g)].map((match) => match[1])
    expect(links).toEqual(['docs', 'docs/errors', 'openapi.json', 'health'])
  })

  it.each([undefined, '*/*', 'application/json'])('are JSON for clients that accept %s', async (accept) => {
    const headers = accept === undefined ? {} : { accept }
    const root = await app.inject({ url: '/', headers })
    expect([root.statusCode, root.json()]).toEqual([
      200,
      {
        name: 'Posthorn',
        docsUrl: 'https://mail.example.com/docs',
        openapiUrl: 'https://mail.example.com/openapi.json',
        healthUrl: 'https://mail.example.com/health',
      },
    ])
    const unknown = await app.inject({ url: '/nothing', headers })
    expect([unknown.statusCode, unknown.json()]).toMatchObject([404, { error: { code: 'route_not_found' } }])
  })

  it.each([
    ['/nothing', './'],
    ['/a/b/nothing?from=/x/y', '../../'],
    ['/folder/', '../'],
  ])('say that %s does not exist, and lead to the landing page', async (url, home) => {
    const { statusCode, headers, body } = await visit(url)
    expect([statusCode, headers]).toMatchObject([404, HARDENED])
    expect(body).toContain('data-code="route_not_found"')
    expect(body).toContain(`href="${home}"`)
    expect(body).toContain(headers['x-request-id'])
    expect(body).not.toContain('nothing')
  })

  it.each([
    [undefined, 'Accounts, webhooks, bookings and logs'],
    [{ username: 'root', passwordIn: './data/admin-password' }, 'User root, password in ./data/admin-password'],
  ])('lead to the portal while it is on, and say how to sign in to %j', async (signIn, hint) => {
    const pages = site({ authScreen: {}, portal: { signIn } })
    const server = testServer({ errorPage: pages.errorPage })
    siteRoutes(server, pages, 'https://mail.example.com')
    const page = await server.inject({ url: '/', headers: { accept: BROWSER_ACCEPT } })
    expect(page.body).toMatch(/<a href="admin">.*Admin portal.*<a href="docs">/s)
    expect(page.body).toContain(hint)
    expect((await server.inject({ url: '/' })).json()).toMatchObject({ portalUrl: 'https://mail.example.com/admin' })
    await server.close()
  })

  it.each([
    ['?status=success&accountId=acc_1', 'The mailbox is connected.'],
    ['?status=cancelled&error=consent_denied', 'No mailbox was connected.'],
  ])('say how a sign-in ended that leads to /%s', async (query, text) => {
    expect((await visit(`/${query}`)).body).toContain(text)
    expect((await visit('/')).body).not.toContain(text)
  })

  it('leave the other errors of the API to clients', async () => {
    const response = await visit('/things')
    expect([response.statusCode, response.json()]).toMatchObject([401, { error: { code: 'unauthorized' } }])
  })
})
