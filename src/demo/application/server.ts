import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DemoMailbox } from '../mailbox.ts'
import type { DemoService } from '../service.ts'
import type { Story } from '../story.ts'
import { applicationPage } from './page.ts'
import type { PortalSignIn } from './portal.ts'

interface ServerDeps {
  service: Pick<DemoService, 'url'>
  mailbox: DemoMailbox
  story: Story
  /** Returns the state that the page shows; sent to it as JSON after each `changed`. */
  view(): object
  receive(body: string, headers: IncomingHttpHeaders): boolean
  /** Returns the one-time link. */
  connect(): Promise<string>
  /** The browser returned from the hosted pages with this query. */
  returned(query: URLSearchParams): Promise<void>
  /** Null until there is one. */
  bookingUrl(): string | null
  portal: PortalSignIn
  /** Sends a message to the mailbox. */
  send(): Promise<void>
}

interface ApplicationServer {
  url: string
  /** Sends the view to every open page. Several calls in one turn send it once. */
  changed(): void
  close(): Promise<void>
}

const MAX_BODY_BYTES = 1024 * 1024
const SCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'
/** scripts/build.mjs copies them beside the bundle. */
const ASSETS = new URL(import.meta.url.endsWith('/server.ts') ? './assets/' : './demo-application/', import.meta.url)

/** Serves the page of the demo, its events, and the webhook endpoint, on loopback. */
export async function startApplicationServer(deps: ServerDeps): Promise<ApplicationServer> {
  const { service, view } = deps
  const pages = new Set<ServerResponse>()
  let origin = ''
  let isScheduled = false

  const routes: Record<string, (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void>> = {
    'GET /': async (_request, response) => sendPage(response, applicationPage(deps).markup),
    'GET /page.js': async (_request, response) => sendAsset(response, 'page.js', SCRIPT),
    'GET /page.css': async (_request, response) => sendAsset(response, 'page.css', STYLE),
    'GET /arrivals.css': async (_request, response) => sendAsset(response, 'arrivals.css', STYLE),
    async 'GET /events'(_request, response) {
      response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream' })
      response.write(formatEvent(view()))
      pages.add(response)
      response.on('close', () => pages.delete(response))
    },
    async 'POST /webhooks'(request, response) {
      const isVerified = deps.receive(await readBody(request), request.headers)
      response.writeHead(isVerified ? 204 : 401).end()
    },
    async 'POST /connect'(_request, response) {
      redirect(response, await deps.connect())
    },
    async 'GET /connected'(_request, response, { searchParams }) {
      await deps.returned(searchParams)
      redirect(response, '/')
    },
    // Browsers send cookies of 127.0.0.1 to every port of it.
    async 'GET /portal'(_request, response, { searchParams }) {
      const cookies = await deps.portal.cookies(searchParams.get('ticket') ?? '')
      if (cookies !== undefined) response.setHeader('set-cookie', cookies)
      redirect(response, deps.portal.url)
    },
    async 'POST /portal'(_request, response) {
      response.setHeader('set-cookie', await deps.portal.signIn())
      redirect(response, deps.portal.url)
    },
    async 'POST /book'(_request, response) {
      redirect(response, deps.bookingUrl() ?? '/')
    },
    async 'POST /send'(_request, response) {
      await deps.send()
      redirect(response, '/')
    },
  }

  function sendPage(response: ServerResponse, markup: string): void {
    // form-action covers the redirects of a form, too.
    const policy = [
      `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:`,
      `form-action 'self' ${service.url}`,
      `base-uri 'none'; frame-ancestors 'none'`,
    ].join('; ')
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy }
    response.writeHead(200, { ...HEADERS, ...headers }).end(markup)
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', origin)
    const route = routes[`${request.method} ${url.pathname}`]
    const refusal = findRefusal(request, origin)
    if (refusal !== undefined) return sendText(response, 403, refusal)
    if (route === undefined) return sendText(response, 404, 'Not found.')
    route(request, response, url).catch((error: unknown) => {
      if (!response.headersSent) sendText(response, 502, error instanceof Error ? error.message : String(error))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    url: origin,
    changed() {
      if (isScheduled) return
      isScheduled = true
      setImmediate(() => {
        isScheduled = false
        for (const page of pages) page.write(formatEvent(view()))
      })
    },
    async close() {
      server.closeAllConnections()
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    },
  }
}

const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  // With no-referrer, browsers would send the origin of a form as null.
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** Why the request is refused: another site must neither read the page through a name of its own, nor press its buttons. */
function findRefusal({ method, headers, url }: IncomingMessage, origin: string): string | undefined {
  if (`http://${headers.host}` !== origin) return `Open ${origin} instead.`
  if (method !== 'POST' || url === '/webhooks') return undefined
  const isForeign = headers.origin !== undefined && headers.origin !== origin
  const site = headers['sec-fetch-site']
  return isForeign || (site !== undefined && site !== 'same-origin')
    ? 'This request came from another site.'
    : undefined
}

function formatEvent(view: object): string {
  return `event: view\ndata: ${JSON.stringify(view)}\n\n`
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { ...HEADERS, location }).end()
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { ...HEADERS, 'content-type': 'text/plain; charset=utf-8' }).end(text)
}

async function sendAsset(response: ServerResponse, file: string, type: string): Promise<void> {
  const content = await readFile(new URL(file, ASSETS))
  response.writeHead(200, { ...HEADERS, 'content-type': type }).end(content)
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of request) {
    sizeBytes += chunk.length
    if (sizeBytes > MAX_BODY_BYTES) throw new Error('The body is too large.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
