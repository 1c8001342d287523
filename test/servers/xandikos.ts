import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { eventually } from '../kit/eventually.ts'
import { type DavProxy, startDavProxy } from './dav-proxy.ts'
import { newBook, newCalendar, requestDav } from './dav-requests.ts'
import { freePort } from './free-port.ts'

/**
 * Xandikos, a CalDAV server over git, with its own folder and port. It has one user and no login, so a proxy asks for the password.
 * Stops with `stop()` or with this process.
 */
export interface Xandikos {
  /** The proxy's address. */
  readonly url: string
  proxy: DavProxy
  /** Any request of another program; throws for an error status. Returns the body. */
  request(method: string, path: string, body?: string): Promise<string>
  /** Returns the path of the new calendar. `properties` are elements of `D:prop`. */
  makeCalendar(name: string, properties?: string): Promise<string>
  /** Returns the path of the new address book. */
  makeBook(name: string): Promise<string>
  /** Forgets every sync token: it is the id of a tree in the repository of the collection. */
  forgetSyncTokens(calendar: string): Promise<void>
  stop(): Promise<void>
}

const PROGRAM = '/usr/bin/xandikos'
const XANDIKOS_HOME = '/ann/calendars/'
const XANDIKOS_BOOKS = '/ann/contacts/'

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

  const request = (method: string, path: string, body?: string) => requestDav(url + path, { method, body })

  return {
    url: proxy.url,
    proxy,
    request,
    async makeCalendar(name, properties = `<D:displayname>${name}</D:displayname>`) {
      const path = `${XANDIKOS_HOME}${name}/`
      await request('MKCALENDAR', path, newCalendar(properties))
      return path
    },
    async makeBook(name) {
      const path = `${XANDIKOS_BOOKS}${name}/`
      await request('MKCOL', path, newBook(name))
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
