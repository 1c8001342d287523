import { once } from 'node:events'
import { createServer, type IncomingMessage, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy before a CalDAV server. Asks for the password that the server does not ask for, and refuses single calendars. */
export interface DavProxy {
  url: string
  /** From now on, each request needs the password of one of these users. */
  requireLogin(passwords: ReadonlyMap<string, string>): void
  /** Requests for this path and what is below it get this status; null ends that. */
  refuse(path: string, status: number | null): void
  close(): Promise<void>
}

export async function startDavProxy(targetUrl: string): Promise<DavProxy> {
  const target = new URL(targetUrl)
  const refused = new Map<string, number>()
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
    const forwarded = send({ hostname, port, method, path: url, headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(outgoing)
      reply.on('error', () => outgoing.destroy())
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
