import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

export interface ReceivedEvent {
  id: string
  type: string
  data: Record<string, unknown>
  accountId: string | null
}

/** The application of the demo. It receives webhooks, rejects invalid signatures and stores the events. */
export interface DemoReceiver {
  url: string
  /** The page to which the browser returns after connecting a mailbox. */
  pageUrl: string
  /** Sets the signing secret of the endpoint. */
  trust(secret: string): void
  /** The first event of this type that matches, already received or not. Rejects after `timeoutMs`. */
  waitFor(type: string, matches: (event: ReceivedEvent) => boolean, timeoutMs: number): Promise<ReceivedEvent>
  onEvent(listener: (event: ReceivedEvent) => void): void
  close(): Promise<void>
}

const MAX_BODY_BYTES = 1024 * 1024
const LANDING_PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Connected</title><body style="font:18px system-ui;max-width:32em;margin:4em auto;padding:0 1em">
<h1>Welcome back</h1><p>This is the application. Your mailbox is connected; the terminal shows what happens next.</p></body></html>`

export async function startDemoReceiver(): Promise<DemoReceiver> {
  const events: ReceivedEvent[] = []
  const listeners = new Set<(event: ReceivedEvent) => void>()
  let verifier: Webhook | undefined

  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(LANDING_PAGE)
      return
    }
    try {
      const body = await readBody(request)
      // Throws unless the signature is valid and the timestamp is recent.
      const event = verifier?.verify(body, headersOf(request)) as ReceivedEvent
      response.writeHead(204).end()
      events.push(event)
      for (const listener of listeners) listener(event)
    } catch {
      response.writeHead(401).end()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `${origin}/webhooks`,
    pageUrl: `${origin}/connected`,
    trust(secret) {
      verifier = new Webhook(secret)
    },
    waitFor(type, matches, timeoutMs) {
      const fits = (event: ReceivedEvent) => event.type === type && matches(event)
      const seen = events.find(fits)
      if (seen !== undefined) return Promise.resolve(seen)
      return new Promise((resolve, reject) => {
        const listener = (event: ReceivedEvent) => {
          if (!fits(event)) return
          clearTimeout(timer)
          listeners.delete(listener)
          resolve(event)
        }
        const timer = setTimeout(() => {
          listeners.delete(listener)
          reject(new Error(`No ${type} webhook arrived within ${timeoutMs / 1000} s.`))
        }, timeoutMs)
        listeners.add(listener)
      })
    },
    onEvent: (listener) => void listeners.add(listener),
    async close() {
      server.closeAllConnections()
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of request) {
    sizeBytes += chunk.length
    if (sizeBytes > MAX_BODY_BYTES) throw new Error('body too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function headersOf(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
}
