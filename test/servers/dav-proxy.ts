import { once } from 'node:events'
import { createServer, type IncomingMessage, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as it reached the server. */
export interface ProxiedCall {
  /** `REPORT /path` */
  line: string
  body: string
}

/** Requests that have reached the server, and whose responses do not reach the client yet. */
interface HeldReplies {
  readonly count: number
  /** Passes them on, and holds no further ones. */
  release(): void
}

/** A proxy before a CalDAV server. Asks for the password that the server does not ask for, and refuses single calendars. */
export interface DavProxy {
  url: string
  /** From now on, each request needs the password of one of these users. */
  requireLogin(passwords: ReadonlyMap<string, string>): void
  /** Requests for this path and what is below it get this status; null ends that. */
  refuse(path: string, status: number | null): void
  /** Holds the complete responses to the requests for which this returns true. */
  hold(matches: (call: ProxiedCall) => boolean): HeldReplies
  close(): Promise<void>
}

export async function startDavProxy(targetUrl: string): Promise<DavProxy> {
  const target = new URL(targetUrl)
  const refused = new Map<string, number>()
  const holds = new Set<(call: ProxiedCall) => Promise<void> | undefined>()
  let logins: ReadonlyMap<string, string> | undefined
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    const status = isKnown(incoming, logins) ? findStatus(url, refused) : 401
    if (status !== undefined) {
      incoming.resume()
      outgoing.writeHead(status, status === 401 ? { 'www-authenticate': 'Basic realm="tests"' } : {}).end()
      return
    }
    const { hostname, port } = target
    const sent: Buffer[] = []
    let held: Promise<void> | undefined
    incoming.on('data', (chunk: Buffer) => sent.push(chunk))
    // Before the server responds: the first of several requests is held first.
    incoming.on('end', () => {
      const call = { line: `${method} ${url}`, body: Buffer.concat(sent).toString() }
      for (const hold of holds) held ??= hold(call)
    })
    const forwarded = send({ hostname, port, method, path: url, headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.on('error', () => outgoing.destroy())
      if (held === undefined) reply.pipe(outgoing)
      else void held.then(() => reply.pipe(outgoing))
    })
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requireLogin(passwords) {
      logins = passwords
    },
    refuse(path, status) {
      if (status === null) refused.delete(path)
      else refused.set(path, status)
    },
    hold(matches) {
      const waiting: (() => void)[] = []
      const hold = (call: ProxiedCall) =>
        matches(call) ? new Promise<void>((resolve) => waiting.push(resolve)) : undefined
      holds.add(hold)
      return {
        get count() {
          return waiting.length
        },
        release() {
          holds.delete(hold)
          for (const pass of waiting.splice(0)) pass()
        },
      }
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function isKnown({ headers }: IncomingMessage, logins: ReadonlyMap<string, string> | undefined): boolean {
  if (logins === undefined) return true
  const basic = /^Basic (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
  const [user = '', password] = Buffer.from(basic, 'base64').toString().split(/:(.*)/s)
  return password !== undefined && logins.get(user) === password
}

function findStatus(url: string, refused: ReadonlyMap<string, number>): number | undefined {
  for (const [path, status] of refused) if (url.startsWith(path)) return status
  return undefined
}
