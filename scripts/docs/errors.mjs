// The page to which the `docUrl` of every error leads: `docs/errors.md`, with a section for each code in place of its table.
import { html, trustedHtml } from './html.mjs'
import { anchor, renderMarkdown } from './markdown.mjs'
import { importSource } from './source.mjs'

const { ERROR_CATALOGUE } = await importSource('src/platform/errors/app-error.ts')

const FAILED = {
  api: 'The request',
  provider: 'The mail or calendar provider',
  callback: "The application's endpoint",
  server: 'The service',
}

/** The table of the codes in the generated guide. */
const TABLE = /^\| Status \| `code`[\s\S]*?\n\n/m

export function errorsPage(markdown, link) {
  if (!TABLE.test(markdown)) throw new Error('docs/errors.md no longer has the table of codes.')
  const [before, after] = markdown.replace(/^Generated from .*\n\n/m, '').split(TABLE)
  const introduction = renderMarkdown(before, link)
  const more = renderMarkdown(after, link)
  const codes = Object.entries(ERROR_CATALOGUE).sort(([, [left]], [, [right]]) => left - right)
  const content = html`${introduction.content}
<h2 id="codes">Codes${anchor('codes')}</h2>
<ul class="index">${codes.map(([code, [status]]) => html`<li><a href="#${code}"><code>${code}</code></a> <span class="status">${status}</span></li>`)}</ul>
${codes.map(
  ([code, [status, type, text]]) => html`<section class="error" id="${code}" aria-labelledby="${code}-title">
<h3 id="${code}-title"><code>${code}</code> <span class="status">${status}</span>${anchor(code)}</h3>
<p>${text}</p>
<dl><dt>What failed</dt><dd>${FAILED[type]} (<code>${type}</code>)</dd><dt>Retry</dt><dd>${retryAdvice(status, code)}</dd></dl>
</section>
`,
)}${trustedHtml(more.content.toString())}`
  return {
    title: introduction.title,
    content,
    headings: [...introduction.headings, { id: 'codes', text: 'Codes', level: 2 }, ...more.headings],
    sections: [
      ...introduction.sections,
      ...codes.map(([code, [status, , text]]) => ({ id: code, heading: code, text: `${status} ${text}` })),
      ...more.sections,
    ],
  }
}

function retryAdvice(status, code) {
  if (status === 429 || status === 503) return 'Yes, after the time in the Retry-After header.'
  if (code === 'idempotency_running') return 'Yes, after a second, with the same Idempotency-Key.'
  if (status >= 500 || status === 408) return 'Yes, with increasing delays and the same Idempotency-Key.'
  return 'Not with the same request.'
}
