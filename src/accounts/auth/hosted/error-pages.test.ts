import { afterEach, beforeEach, expect, it } from 'vitest'
import { BROWSER_ACCEPT, type Call, type Hosted, serveHosted } from '../../../../test/kit/accounts/hosted.ts'
import { describeOneDatabase } from '../../../../test/kit/database/database.ts'

const BROWSER = { accept: BROWSER_ACCEPT }
const FORM = { 'content-type': 'application/x-www-form-urlencoded', ...BROWSER }
const JSON_TYPE = { 'content-type': 'application/json', ...BROWSER }

/** The headers that keep other sites from framing, scripting, observing or caching a page. */
function expectHardened(response: Response): void {
  const { headers } = response
  expect({
    policy: headers.get('content-security-policy'),
    cache: headers.get('cache-control'),
    referrer: headers.get('referrer-policy'),
    sniffing: headers.get('x-content-type-options'),
    frames: headers.get('x-frame-options'),
  }).toEqual({
    policy: expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
    cache: 'no-store',
    referrer: 'no-referrer',
    sniffing: 'nosniff',
    frames: 'DENY',
  })
}

describeOneDatabase('errors of the hosted routes', 'sqlite', (open) => {
  let hosted: Hosted
  beforeEach(async () => {
    hosted = await serveHosted(await open())
  })
  afterEach(() => hosted.close())

  const raw = (method: string, path: string, body: string, headers: Record<string, string>) =>
    fetch(hosted.url + path, { method, body, headers, redirect: 'manual' })

  it.each([
    ['413', () => raw('POST', '/auth/authorize', `a=${'x'.repeat(70_000)}`, FORM), 413, 'payload_too_large'],
    ['too many fields', () => raw('POST', '/auth/authorize/imap', 'a=1&'.repeat(101), FORM), 400, 'validation_failed'],
    ['malformed JSON', () => raw('POST', '/auth/authorize', '{', JSON_TYPE), 400, 'malformed_json'],
    [
      'another media type',
      () => raw('POST', '/auth/authorize', 'x', { ...BROWSER, 'content-type': 'text/plain' }),
      415,
      'unsupported_media_type',
    ],
    ['an unknown path', () => hosted.call('/auth/nothing', { headers: BROWSER }), 404, 'route_not_found'],
    ['another method', () => hosted.call('/auth/authorize/imap', { headers: BROWSER }), 405, 'method_not_allowed'],
    [
      'another method of the callback',
      () => hosted.call('/providers/gmail/callback', { form: {}, headers: BROWSER }),
      405,
      'method_not_allowed',
    ],
  ] satisfies [string, () => Promise<Response>, number, string][])(
    'are pages for people: %s',
    async (_name, send, status, code) => {
      const response = await send()
      const page = await response.text()
      expect([response.status, response.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8'])
      expect(page).toContain(`data-code="${code}"`)
      expect(page).not.toContain('The problem is on our side')
      expectHardened(response)
    },
  )

  const limited: [string, string, Call, number][] = [
    ['GET /auth/authorize', '/auth/authorize?session=CODE', {}, 120],
    ['POST /auth/authorize', '/auth/authorize', { form: { session: 'CODE', state: 's' } }, 60],
    ['POST /auth/authorize/imap', '/auth/authorize/imap', { form: { session: 'CODE', state: 's' } }, 60],
    ['POST …/imap/folders', '/auth/authorize/imap/folders', { json: { session: 'CODE', state: 's' } }, 60],
    ['POST …/start', '/auth/sessions/CODE/start', { json: { provider: 'imap', state: 's' } }, 60],
    ['GET /providers/gmail/callback', '/providers/gmail/callback?code=1&state=CODE', {}, 60],
  ]
  it.each(limited)(
    'are 429 with the same headers once a session is requested too often: %s',
    async (_name, path, call, limit) => {
      const request = (code: string) => {
        const { form, json } = JSON.parse(JSON.stringify(call).replaceAll('CODE', code))
        return hosted.call(path.replace('CODE', code), {
          ...(form && { form }),
          ...(json && { json }),
          headers: BROWSER,
        })
      }
      for (let count = 0; count < limit; count += 1) expect((await request('session-1')).status).not.toBe(429)
      const refused = await request('session-1')
      expect(refused.status).toBe(429)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expectHardened(refused)
      expect((await request('session-2')).status).not.toBe(429)
    },
  )

  it('are 429 pages once an address requests too often, and JSON for programs', async () => {
    for (let count = 0; count < 120; count += 1) await hosted.call('/auth/authorize', { form: {}, headers: BROWSER })
    const page = await hosted.call('/auth/authorize', { form: {}, headers: BROWSER })
    expect([page.status, await page.text()]).toEqual([429, expect.stringContaining('data-code="rate_limited"')])
    expectHardened(page)
    const json = await hosted.call('/auth/authorize', { form: {}, headers: { accept: 'application/json' } })
    expect([json.status, await json.json()]).toEqual([429, expect.objectContaining({ success: false })])
    expectHardened(json)
  })

  it('stay JSON for programs that do not ask for HTML', async () => {
    for (const path of ['/auth/nothing', '/auth/authorize/imap']) {
      const response = await hosted.call(path)
      expect([response.headers.get('content-type'), await response.json()]).toEqual([
        'application/json; charset=utf-8',
        expect.objectContaining({ success: false }),
      ])
      expectHardened(response)
    }
  })
})
