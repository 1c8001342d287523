import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { eventually } from '../kit/eventually.ts'
import { type DavProxy, startDavProxy } from './dav-proxy.ts'
import { freePort } from './loopback.ts'

/**
 * Xandikos, a CalDAV server over git, with its own folder and port. It has one user and no login, so a proxy asks for the password.
 * Stops with `stop()` or with this process.
 */
export interface Xandikos {
  /** Of the proxy. */
  readonly url: string
  proxy: DavProxy
  /** Any request of another program; throws for an error status. Returns the body. */
  request(method: string, path: string, body?: string): Promise<string>
  /** Returns the path of the new calendar. `properties` are elements of `D:prop`. */
  makeCalendar(name: string, properties?: string): Promise<string>
  /** Forgets every sync token: it is the id of a tree in the repository of the calendar. */
  forgetSyncTokens(calendar: string): Promise<void>
  stop(): Promise<void>
}

const PROGRAM = '/usr/bin/xandikos'
const XANDIKOS_HOME = '/ann/calendars/'

export function xandikosAvailable(): boolean {
  return existsSync(PROGRAM)
}

export async function startXandikos(): Promise<Xandikos> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-xandikos-'))
  const port = await freePort()
  const args = ['-d', folder, '-l', '127.0.0.1', '-p', String(port), '--current-user-principal=/ann/', '--defaults']
  const child = spawn(PROGRAM, [...args, '--route-prefix=/'], { stdio: 'ignore' })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  const url = `http://127.0.0.1:${port}`
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error('Xandikos ended')
    await fetch(url)
  })
  const proxy = await startDavProxy(url)

  async function request(method: string, path: string, body?: string): Promise<string> {
    const type = method === 'PUT' ? { 'content-type': 'text/calendar; charset=utf-8' } : { 'content-type': 'text/xml' }
    const headers = body === undefined ? {} : type
    const response = await fetch(url + path, { method, headers, ...(body !== undefined && { body }) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text
  }

  return {
    ...{ url: proxy.url, proxy, request },
    async makeCalendar(name, properties = `<D:displayname>${name}</D:displayname>`) {
      const path = `${XANDIKOS_HOME}${name}/`
      const body = `<?xml version="1.0"?><C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:A="http://apple.com/ns/ical/"><D:set><D:prop>${properties}</D:prop></D:set></C:mkcalendar>`
      await request('MKCALENDAR', path, body)
      return path
    },
    async forgetSyncTokens(calendar) {
      const objects = join(folder, calendar, '.git', 'objects')
      for (const name of await readdir(objects, { recursive: true })) {
        if (!/^[0-9a-f]{2}\/[0-9a-f]{38}$/.test(name)) continue
        const isTree = inflateSync(await readFile(join(objects, name)))
          .toString('latin1')
          .startsWith('tree ')
        if (isTree) await rm(join(objects, name), { force: true })
      }
    },
    async stop() {
      process.removeListener('exit', endWithUs)
      await proxy.close()
      child.kill('SIGKILL')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}
