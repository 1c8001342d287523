import { createHash } from 'node:crypto'
import { html, trustedHtml } from '../../../lib/html.ts'
import type { ApiInfo } from './document.ts'
import type { RouteEntry } from './route-table.ts'
import type { OpenApiWebhooks } from './webhooks.ts'

/** Renders a page of all routes with their summaries. It loads no resources and runs no scripts. */
export function docsPage(routes: readonly RouteEntry[], info: ApiInfo, webhooks?: OpenApiWebhooks): string {
  const shown = routes.filter((route) => route.schema.hide !== true)
  const tags = [...new Set(shown.map(tagOf))].sort()
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title} API</title>
<style>${trustedHtml(STYLE)}</style>
</head>
<body>
<main>
<h1>${info.title} API <small>${info.version}</small></h1>
<p>${info.description}</p>
<p>The address is <code>${info.serverUrl}</code>. The machine-readable description is <a href="openapi.json">openapi.json</a>
(OpenAPI 3.1). Send the API key as <code>Authorization: Bearer &lt;key&gt;</code>.</p>
<nav aria-label="Sections"><ul>${tags.map((tag) => html`<li><a href="#${slug(tag)}">${tag}</a></li>`)}${webhooks && html`<li><a href="#webhooks-sent">Webhooks sent</a></li>`}</ul></nav>
${tags.map((tag) =>
  section(
    tag,
    shown.filter((route) => tagOf(route) === tag),
  ),
)}
${webhooks && webhooksSection(webhooks)}
</main>
</body>
</html>`
  return page.toString()
}

function section(tag: string, routes: readonly RouteEntry[]) {
  return html`<section aria-labelledby="${slug(tag)}">
<h2 id="${slug(tag)}">${tag}</h2>
<dl>${routes.map(
    (
      route,
    ) => html`<dt><b>${route.method}</b> <code>${route.url.replaceAll(/:(\w+)/g, '{$1}')}</code> <span>${route.access}</span></dt>
<dd>${route.schema.summary}${route.schema.description && html`<br><small>${route.schema.description}</small>`}</dd>`,
  )}</dl>
</section>`
}

function webhooksSection({ events }: OpenApiWebhooks) {
  return html`<section aria-labelledby="webhooks-sent">
<h2 id="webhooks-sent">Webhooks sent</h2>
<dl>${events.map(({ name, summary }) => html`<dt><code>${name}</code></dt>\n<dd>${summary}</dd>`)}</dl>
</section>`
}

function tagOf(route: RouteEntry): string {
  return route.schema.tags?.[0] ?? 'Other'
}

function slug(tag: string): string {
  return tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; --line: #8884; --quiet: light-dark(#666, #aaa); }
body { margin: 0; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 small { color: var(--quiet); font-size: 1rem; font-weight: normal; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: 0; list-style: none; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
dt { margin-top: 1rem; overflow-wrap: anywhere; }
dt b { display: inline-block; min-width: 4.5rem; font-family: ui-monospace, monospace; }
dt span { color: var(--quiet); font-size: .85rem; }
dd { margin: 0 0 0 4.8rem; }
code { font-family: ui-monospace, monospace; }
@media (max-width: 40rem) { dd { margin-left: 0; } }
`

/** Allows only the style of this page. */
export const DOCS_CSP = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
