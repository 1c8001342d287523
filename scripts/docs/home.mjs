import { codeBlock } from './highlight.mjs'
import { html } from './html.mjs'
import { renderMarkdown } from './markdown.mjs'

/** Pages with their anchors, what a reader does there, and what for. */
const FIRST_STEPS = [
  [
    'api/hosted-authentication#createAuthSession',
    'Create a session',
    'and open its link in the browser of your user, who connects a mailbox there.',
  ],
  ['api/accounts#listAccounts', 'List the accounts', 'to find the mailbox.'],
  ['api/messages#listMessages', 'List its messages', '.'],
  ['api/webhooks#createWebhookEndpoint', 'Create a webhook endpoint', 'to receive new messages as they arrive.'],
]

const COMMAND = `curl -X POST 'http://localhost:8080/auth/sessions' \\
  -H "Authorization: Bearer $SERVICE_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"redirectUri":"https://acme.example/connected"}'`

/** The first page: the first steps, and every page by its group. */
export function homeContent(groups, href) {
  const step = ([path, name, rest]) => {
    const [page, hash] = path.split('#')
    return html`<li><a href="${href(page)}#${hash}">${name}</a>${rest === '.' ? '' : ' '}${rest}</li>`
  }
  const content = html`<p class="lead">Posthorn connects the mailboxes and calendars of your users, reads them over one REST API, and sends every change to your application as a signed webhook.</p>
<div class="start"><div><h2 id="first-steps">First steps</h2><ol>${FIRST_STEPS.map(step)}</ol></div><div data-service-address>${codeBlock(COMMAND, 'sh', 'Create a session')}</div></div>
<div class="cards">${groups.map(
    ({ name, pages }) =>
      html`<section aria-label="${name}"><h2>${name}</h2><ul>${pages.map(({ path, title, shortTitle = title }) => html`<li><a href="${href(path)}">${shortTitle}</a></li>`)}</ul></section>`,
  )}</div>`
  return { title: 'Documentation', isWide: true, content, headings: [], sections: [] }
}

/** The introduction of the API, and its sections. */
export function overviewContent(document, link, documentHref, href) {
  const { content, headings, sections } = renderMarkdown(lower(document.info.description), link)
  const tags = document.tags.map(
    ({ name, description }) => html`<li><a href="${href(name)}">${name}</a>: ${description}</li>`,
  )
  return {
    title: 'API overview',
    headings,
    sections,
    content: html`${content}<h2 id="sections">Sections</h2><ul>${tags}</ul><p>The description for programs is <a href="${documentHref}">openapi.json</a>.</p>`,
  }
}

/** Its headings are of the first level, which is the title of a page. */
const lower = (markdown) => markdown.replaceAll(/^# /gm, '## ')
