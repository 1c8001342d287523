import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { generate } from 'selfsigned'

/** A request that a scripted CalDAV server received. */
export interface DavCall {
  /** `PROPFIND /path` */
  line: string
  host: string
  depth: string
  body: string
  /** `user:password` */
  credentials: string | undefined
  /** `Bearer …` or `Basic …` */
  authorization: string | undefined
}

export interface DavReply {
  status?: number
  headers?: Record<string, string>
  body?: string | Buffer
  /** Sends this again and again, and never ends. */
  endless?: string
  /** Sends a character of this now and then, and never ends. */
  dripping?: string
}

export interface DavServer {
  port: number
  calls: DavCall[]
  close(): Promise<void>
}

export interface Certificate {
  key: string
  cert: string
}

/** Takes a second of a core. */
export async function certificateFor(names: readonly string[]): Promise<Certificate> {
  const pem = await generate([{ name: 'commonName', value: 'tests' }], {
    extensions: [{ name: 'subjectAltName', altNames: names.map((value) => ({ type: 2, value })) }],
  })
  return { key: pem.private, cert: pem.cert }
}

/** A CalDAV server that sends what the test says, over TLS with a certificate, or over plain HTTP. */
export async function startDavServer(
  respond: (call: DavCall) => DavReply | Promise<DavReply>,
  certificate?: Certificate,
): Promise<DavServer> {
  const calls: DavCall[] = []
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const call = toCall(request, Buffer.concat(chunks).toString())
    calls.push(call)
    const { status = 207, headers = {}, body = '', endless, dripping } = await respond(call)
    response.on('error', () => {})
    response.writeHead(status, headers)
    if (dripping !== undefined) return drip(response, dripping)
    if (endless === undefined) return response.end(body)
    const pour = () => {
      while (!response.destroyed && response.write(endless));
    }
    response.on('drain', pour)
    pour()
  }
  const server = certificate === undefined ? createServer(listener) : createTlsServer(certificate, listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    calls,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function drip(response: ServerResponse, text: string): void {
  let at = 0
  const timer = setInterval(() => {
    response.write(text[at % text.length])
    at += 1
  }, 20)
  response.once('close', () => clearInterval(timer))
}

function toCall({ method, url, headers }: IncomingMessage, body: string): DavCall {
  const basic = /^Basic (.+)$/.exec(headers.authorization ?? '')?.[1]
  return {
    line: `${method} ${url}`,
    host: (headers.host ?? '').replace(/:\d+$/, ''),
    depth: typeof headers.depth === 'string' ? headers.depth : '',
    body,
    credentials: basic === undefined ? undefined : Buffer.from(basic, 'base64').toString(),
    authorization: headers.authorization,
  }
}

/** A multistatus with the properties of each resource as XML; a number is its status. */
export function multistatus(resources: Record<string, string | number>, more = ''): DavReply {
  const responses = Object.entries(resources).map(([href, content]) => {
    const status = typeof content === 'number' ? `<D:status>HTTP/1.1 ${content} x</D:status>` : ''
    const properties =
      typeof content === 'string'
        ? `<D:propstat><D:prop>${content}</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>`
        : ''
    return `<D:response><D:href>${href}</D:href>${status}${properties}</D:response>`
  })
  return { body: `<D:multistatus ${NAMESPACES}>${responses.join('')}${more}</D:multistatus>` }
}

const NAMESPACES =
  'xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:CR="urn:ietf:params:xml:ns:carddav" xmlns:CS="http://calendarserver.org/ns/" xmlns:A="http://apple.com/ns/ical/"'
