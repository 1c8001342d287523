import { lazy } from '../../concurrency/lazy.ts'
import { sha256 } from '../../crypto/sha256.ts'
import { ERROR_CATALOGUE, ERROR_PAGE_PATH } from '../../errors/app-error.ts'
import { html, trustedHtml } from '../../formats/html.ts'
import type { App } from '../server/server.ts'

const LIMITS = { name: 'docs', address: { limit: 120, windowMs: 60_000 } }

/** Adds the page that the `docUrl` of every error leads to, with one section per code. */
export function errorPageRoute(app: App): void {
  const page = lazy(errorPage)
  app.get(
    ERROR_PAGE_PATH,
    { config: { access: 'public', rateLimit: LIMITS }, schema: { hide: true } },
    async (_request, reply) => {
      reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', CSP)
        .header('cache-control', 'public, max-age=60')
      return page()
    },
  )
}

const FAILED = {
  api: 'The request',
  provider: 'The mail or calendar provider',
  callback: "The application's endpoint",
  server: 'The service',
} as const

function errorPage(): string {
  const codes = Object.entries(ERROR_CATALOGUE)
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Errors &middot; Posthorn API</title>
<style>${trustedHtml(STYLE)}</style>
</head>
<body>
<main>
<p><a href="../docs">API reference</a></p>
<h1>Errors</h1>
<p>Every error response has a <code>code</code>. Base decisions on it: the <code>message</code> is for people and may change.
<code>details</code> lists the values to correct. Quote the <code>requestId</code> when you report a problem.</p>
${codes.map(
  ([code, [status, type, text]]) => html`<section id="${code}" aria-labelledby="${code}-title">
<h2 id="${code}-title"><a href="#${code}"><code>${code}</code></a> <span>${status}</span></h2>
<p>${text}</p>
<dl><dt>What failed</dt><dd>${FAILED[type]}</dd><dt>Retry</dt><dd>${retryAdvice(status, code)}</dd></dl>
</section>
`,
)}</main>
</body>
</html>`
  return page.toString()
}

function retryAdvice(status: number, code: string): string {
  if (status === 429 || status === 503) return 'Yes, after the time in the Retry-After header.'
  if (code === 'idempotency_running') return 'Yes, after a second, with the same Idempotency-Key.'
  if (status >= 500 || status === 408) return 'Yes, with increasing delays and the same Idempotency-Key.'
  return 'Not with the same request.'
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; --line: #8884; --quiet: light-dark(#595959, #ababab); --mark: light-dark(#fff6d6, #3a3214); }
body { margin: 0; color: light-dark(#1a1a1a, #ececec); background: light-dark(#fff, #161616); }
main { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 50vh; }
a { color: light-dark(#0b57d0, #8ab4f8); }
h1 { margin: .5rem 0; line-height: 1.2; }
h2 { margin: 0; font-size: 1.1rem; overflow-wrap: anywhere; }
h2 a { color: inherit; text-decoration: none; }
h2 a:hover { text-decoration: underline; }
h2 span { color: var(--quiet); font-weight: normal; font-size: .9rem; }
section { padding: 1rem .75rem; border-top: 1px solid var(--line); scroll-margin-top: 1rem; }
section:target { background: var(--mark); border-radius: .5rem; }
section p { margin: .25rem 0 .5rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; margin: 0; font-size: .9rem; color: var(--quiet); }
dd { margin: 0; }
code { font-family: ui-monospace, monospace; }
`

/** Allows only the style of this page. */
const CSP = `default-src 'none'; style-src 'sha256-${sha256(STYLE, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
