import { readFile } from 'node:fs/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testServer } from '../../../../test/kit/http/server.ts'
import { type App, openApiRoutes } from '../index.ts'

/** A file of each kind. */
const PATHS = ['/docs', '/docs/webhooks', '/docs/api/accounts', '/docs/docs.js', '/docs/search.json', '/openapi.json']

describe('the files of the documentation', () => {
  let app: App
  beforeAll(() => {
    app = testServer()
    openApiRoutes(app)
  })
  afterAll(() => app.close())

  const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })

  it.each(PATHS)('%s is the same file in every encoding', async (path) => {
    const [plain, gzip, brotli] = await Promise.all([
      get(path),
      get(path, { 'accept-encoding': 'gzip, deflate' }),
      get(path, { 'accept-encoding': 'gzip, deflate, br' }),
    ])
    expect([plain.statusCode, gzip.statusCode, brotli.statusCode]).toEqual([200, 200, 200])
    expect([gzip.headers['content-encoding'], brotli.headers['content-encoding']]).toEqual(['gzip', 'br'])
    expect(plain.headers).not.toHaveProperty('content-encoding')
    expect(gunzipSync(gzip.rawPayload).equals(plain.rawPayload)).toBe(true)
    expect(brotliDecompressSync(brotli.rawPayload).equals(plain.rawPayload)).toBe(true)
    expect(brotli.headers).toMatchObject({ vary: 'accept-encoding', 'cache-control': 'public, no-cache' })
    expect(new Set([plain, gzip, brotli].map(({ headers }) => headers.etag)).size).toBe(3)
  })

  it.each(PATHS)('%s is not sent again to a client that has it', async (path) => {
    const { etag } = (await get(path)).headers
    for (const tag of [String(etag), `"other", W/${etag}`]) {
      const { statusCode, headers, body } = await get(path, { 'if-none-match': tag })
      expect([statusCode, headers.etag, body.length]).toEqual([304, etag, 0])
    }
    expect((await get(path, { 'if-none-match': '"other"' })).statusCode).toBe(200)
  })

  it('are the committed document, for a server at the address of the document', async () => {
    const { body, headers } = await get('/openapi.json')
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    const committed = JSON.parse(await readFile('openapi.json', 'utf8'))
    expect(JSON.parse(body)).toEqual({ ...committed, servers: [{ url: '.' }] })
  })

  it.each(['/docs', '/docs/webhooks', '/docs/api/accounts', '/docs/errors'])(
    '%s is a page that runs only its own script and loads nothing from other hosts',
    async (path) => {
      const { headers, body } = await get(path)
      expect(headers['content-type']).toBe('text/html; charset=utf-8')
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/)
      expect(body).not.toMatch(/<(script|link|img)[^>]+(src|href)="(https?:)?\/\//)
      expect(body).not.toMatch(/<style|<script>| style="| on\w+="/)
    },
  )

  it('are shown at their address without a slash at the end, below any path', async () => {
    const { statusCode, headers } = await get('/docs/')
    expect([statusCode, headers.location]).toEqual([301, '../docs'])
  })

  it.each(['/docs/nothing', '/docs/docs.js.br', '/docs/manifest.json', '/docs/..%2f..%2fposthorn.js'])(
    'do not include %s',
    async (path) => {
      expect((await get(path)).statusCode).toBe(404)
    },
  )
})
