import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FastifyRequest } from 'fastify'
import { lazy } from '../../platform/concurrency/lazy.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { html } from '../../platform/formats/html.ts'
import { type App, type Authenticator, builtFile, namesHtml, sendBuiltFile } from '../../platform/http/index.ts'
import { hornFavicon } from '../../ui/hosted/index.ts'

/** The manifest that `scripts/admin.mjs` writes. */
interface Manifest {
  /** The names of the files that the page loads first. */
  script: string
  styles: string[]
  preloads: string[]
  /** Every name. */
  files: string[]
}

/** A page loads about ten files. */
const LIMITS = { name: 'admin-files', address: { limit: 1200, windowMs: 60_000 } }
const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/**
 * The portal: one page for every address below `/admin`, and its files. They are public, because they contain no data: the page
 * signs in and calls the API.
 */
export function portalPages(app: App, sessions: Authenticator | undefined): void {
  const config = { access: 'public', rateLimit: LIMITS } as const
  const read = lazy(
    async (): Promise<Manifest> => JSON.parse(await readFile(builtFile('admin', 'manifest.json'), 'utf8')),
  )

  async function findSessionState(request: FastifyRequest): Promise<Shown['session']> {
    if (sessions === undefined) return 'off'
    return (await sessions.authenticate(request, true)) === undefined ? 'none' : 'open'
  }

  for (const path of ['/admin', '/admin/*']) {
    app.get(path, { config, schema: { hide: true } }, async (request, reply) => {
      // Programs that ask for an unknown path expect JSON.
      if (path !== '/admin' && !namesHtml(request.headers.accept)) throw new AppError('route_not_found')
      const nonce = randomBytes(16).toString('base64')
      reply
        .type('text/html; charset=utf-8')
        .headers({
          'cache-control': 'no-store',
          'content-security-policy': policy(nonce),
          'referrer-policy': 'no-referrer',
          'x-frame-options': 'DENY',
          vary: 'accept',
        })
        .serializer((body: string) => body)
      return page(await read(), { nonce, root: relativeRoot(request.url), session: await findSessionState(request) })
    })
  }

  app.get<{ Params: { file: string } }>(
    '/admin/assets/:file',
    { config, schema: { hide: true } },
    async (request, reply) => {
      const { file: name } = request.params
      const { files } = await read()
      const type = TYPES[name.slice(name.lastIndexOf('.') + 1)]
      if (!files.includes(name) || type === undefined) throw new AppError('route_not_found')
      return sendBuiltFile(request, reply, { folder: 'admin', name, type, isImmutable: true })
    },
  )
}

/** Its own files and API are all that the page can load. Its frames are previews, which have policies of their own. */
function policy(nonce: string): string {
  return [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self' 'nonce-${nonce}'`,
    `connect-src 'self'`,
    `img-src 'self' data:`,
    `frame-src 'self'`,
    `form-action 'none'`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ')
}

interface Shown {
  nonce: string
  /** The service as seen from the page. */
  root: string
  /** Whether the browser is signed in; `off` when nobody can. The script asks the API only when it is. */
  session: 'open' | 'none' | 'off'
}

/** The script reads the nonce of the style for those that it adds. The colours are those of the first moment. */
function page({ script, styles, preloads }: Manifest, { nonce, root, session }: Shown): string {
  const file = (name: string) => `${root}/admin/assets/${name}`
  return html`<!doctype html>
<html lang="en" data-session="${session}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>Posthorn</title>
<link rel="icon" href="${hornFavicon()}">
<style nonce="${nonce}">html { background: light-dark(#fff, #1a1b1e) }</style>
${styles.map((name) => html`<link rel="stylesheet" href="${file(name)}">`)}
${preloads.map((name) => html`<link rel="modulepreload" href="${file(name)}">`)}
<script type="module" src="${file(script)}"></script>
</head>
<body>
<div id="root"></div>
<noscript>The admin portal needs JavaScript.</noscript>
</body>
</html>`.toString()
}

/** Relative, because the path at which a proxy serves the service may be unknown here. */
function relativeRoot(url: string): string {
  const path = url.split('?', 1)[0] ?? ''
  return Array.from({ length: path.split('/').length - 2 }, () => '..').join('/') || '.'
}
