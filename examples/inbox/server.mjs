// An inbox in the browser: lists messages, shows one, downloads its attachments, and sends a reply.
// POSTHORN_URL=… POSTHORN_API_KEY=… node server.mjs <account>
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { NotFoundError, Posthorn } from '@posthorn/sdk'

const [accountId] = process.argv.slice(2)
const posthorn = new Posthorn({ baseUrl: process.env.POSTHORN_URL, apiKey: process.env.POSTHORN_API_KEY })

/** Each returns a page, a `Response` to pass on, or the address to go to. */
const ROUTES = [
  ['GET', /^\/$/, list],
  ['GET', /^\/messages\/([^/]+)$/, show],
  ['GET', /^\/messages\/([^/]+)\/files\/([^/]+)$/, download],
  ['POST', /^\/messages\/([^/]+)\/reply$/, reply],
]

async function list(query) {
  const filters = { q: query.get('q') || undefined, cursor: query.get('cursor') || undefined, limit: 20 }
  const page = await posthorn.messages.list(accountId, filters)
  const rows = page.items.map(
    ({ id, from, subject, snippet, unread }) => html`<li>
      <a href="/messages/${id}">${unread ? html`<b>${subject}</b>` : subject}</a>
      ${from?.name || from?.email} <small>${snippet}</small></li>`,
  )
  const { nextCursor } = page.pagination
  const older = new URLSearchParams({ q: filters.q ?? '', cursor: nextCursor ?? '' })
  return html`<form><input name="q" value="${filters.q}" aria-label="Words"> <button>Search</button></form>
    <ul>${rows}</ul>${nextCursor && html`<a href="/?${older}">Older</a>`}`
}

async function show(_query, messageId) {
  const message = await posthorn.messages.get(accountId, messageId, { sanitize: true })
  if (message.unread) await posthorn.messages.update(accountId, messageId, { unread: false })
  const { text, html: sanitized } = message.body
  const files = message.attachments.map(
    ({ id, filename }) => html`<li><a href="/messages/${messageId}/files/${id}">${filename ?? id}</a></li>`,
  )
  return html`<h1>${message.subject}</h1><p>${message.from?.email}, ${message.receivedAt}</p>
    ${sanitized ? html`<iframe sandbox srcdoc="${sanitized}" title="Message"></iframe>` : html`<pre>${text}</pre>`}
    <ul>${files}</ul>
    <form method="post" action="/messages/${messageId}/reply">
      <textarea name="body" rows="6" aria-label="Reply" required></textarea><br><button>Reply</button>
    </form>`
}

function download(_query, messageId, attachmentId) {
  return posthorn.attachments.download(accountId, messageId, attachmentId)
}

async function reply(form, messageId) {
  const { from, replyTo, subject } = await posthorn.messages.get(accountId, messageId)
  const recipients = replyTo.length > 0 ? replyTo : [from]
  await posthorn.messages.send(accountId, {
    to: recipients.map(({ email }) => email),
    subject: subject.startsWith('Re: ') ? subject : `Re: ${subject}`,
    body: form.get('body'),
    replyToMessageId: messageId,
  })
  return '/'
}

const STYLE =
  'body{font:1rem system-ui;max-width:60rem;margin:2rem auto}iframe{width:100%;height:50vh}small{color:#555}'
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; img-src data: https:; form-action 'self'`,
}

/** A page, whose values are escaped unless they are parts of it. */
function html(texts, ...values) {
  return { page: String.raw({ raw: texts }, ...values.map((value) => [value].flat().map(escaped).join(''))) }
}

function escaped(value) {
  if (typeof value === 'object' && value !== null) return value.page
  return String(value ?? '').replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

async function respond(request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost')
  // Forms of other sites have another origin.
  const isOwn = request.method === 'GET' || request.headers['sec-fetch-site'] === 'same-origin'
  const matches = ROUTES.filter(([method, path]) => method === request.method && path.test(pathname))
  const [[, path, route] = []] = isOwn ? matches : []
  if (route === undefined) return response.writeHead(404).end('Not found')
  const [, ...ids] = path.exec(pathname)
  const form = request.method === 'POST' ? new URLSearchParams(await readText(request)) : searchParams
  const result = await route(form, ...ids.map(decodeURIComponent))
  if (typeof result === 'string') return response.writeHead(303, { location: result }).end()
  if (result instanceof Response) return passOn(result, response)
  response.writeHead(200, HEADERS)
  response.end(`<!doctype html><meta charset="utf-8"><title>Inbox</title><style>${STYLE}</style>${result.page}`)
}

/** A file, which the browser must not open as a page of this site. */
function passOn({ headers, body }, response) {
  const type = headers.get('content-type') ?? 'application/octet-stream'
  const disposition = headers.get('content-disposition') ?? 'attachment'
  const isolated = { 'x-content-type-options': 'nosniff', 'content-security-policy': 'sandbox' }
  response.writeHead(200, { 'content-type': type, 'content-disposition': disposition, ...isolated })
  Readable.fromWeb(body).pipe(response)
}

async function readText(request) {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk
    if (text.length > 1_000_000) throw new Error('The form is too large.')
  }
  return text
}

const server = createServer((request, response) => {
  respond(request, response).catch((error) => {
    if (response.headersSent) return response.destroy()
    response.writeHead(error instanceof NotFoundError ? 404 : 500).end(error.message)
  })
})
server.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log(`Open http://127.0.0.1:${server.address().port}`)
})
