import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually } from '../kit/eventually.ts'
import { newBook, newCalendar, requestDav } from './dav-requests.ts'
import { freePort } from './free-port.ts'

/** A real CalDAV server with its own folder and port. Stops with `stop()` or with this process. */
export interface Radicale {
  readonly url: string
  addUser(name: string, password: string): Promise<void>
  removeUser(name: string): Promise<void>
  /** Any request of the user's own client; throws for an error status. Returns the body. */
  request(user: string, method: string, path: string, body?: string, headers?: Record<string, string>): Promise<string>
  /** Returns the path of the new calendar. `properties` are elements of `D:prop`. */
  makeCalendar(user: string, name: string, properties?: string): Promise<string>
  /** Returns the path of the new address book. */
  makeBook(user: string, name: string): Promise<string>
  /** Stores objects by their file names, much faster than by requests. */
  storeObjects(collection: string, objects: Iterable<readonly [name: string, text: string]>): Promise<void>
  /** Forgets every sync token of a calendar or address book. */
  forgetSyncTokens(calendar: string): Promise<void>
  stop(): Promise<void>
}

const PROGRAM = '/usr/bin/radicale'
const PLUGINS = fileURLToPath(new URL('radicale-plugins', import.meta.url))
/** For requests of the tests themselves, where users have access tokens only. */
const OWN_PASSWORD = 'of the tests'

export function radicaleAvailable(): boolean {
  return existsSync(PROGRAM)
}

/** With `oauth`, users sign in with access tokens of this issuer alone. */
export async function startRadicale({ oauth }: { oauth?: { introspectionUrl: string } } = {}): Promise<Radicale> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-radicale-'))
  const passwords = new Map<string, string>()
  const passwordFile = join(folder, 'users')
  const writePasswords = () =>
    writeFile(passwordFile, [...passwords].map(([name, password]) => `${name}:${password}\n`).join(''))
  await writePasswords()
  const port = await freePort()
  const config = join(folder, 'config')
  await writeFile(
    config,
    `[server]
hosts = 127.0.0.1:${port}
[auth]
${oauth === undefined ? `type = htpasswd\nhtpasswd_filename = ${passwordFile}\nhtpasswd_encryption = plain` : 'type = bearer_auth'}
delay = 0
[rights]
type = owner_only
[storage]
filesystem_folder = ${join(folder, 'data')}
[web]
type = none
[logging]
level = error
`,
  )
  await mkdir(join(folder, 'data'))
  const child = spawn(PROGRAM, ['--config', config], {
    stdio: 'ignore',
    ...(oauth !== undefined && {
      env: {
        ...process.env,
        PYTHONPATH: PLUGINS,
        PYTHONDONTWRITEBYTECODE: '1',
        INTROSPECTION_URL: oauth.introspectionUrl,
        RADICALE_PASSWORD: OWN_PASSWORD,
      },
    }),
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  const url = `http://127.0.0.1:${port}`
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error('Radicale ended')
    await fetch(url)
  })

  async function request(user: string, method: string, path: string, body?: string, headers = {}): Promise<string> {
    const login = { user, password: passwords.get(user) ?? (oauth === undefined ? '' : OWN_PASSWORD) }
    return requestDav(url + path, { method, body, headers, login })
  }

  function folderOf(collection: string): string {
    return join(folder, 'data', 'collection-root', decodeURIComponent(collection))
  }

  return {
    url,
    request,
    async addUser(name, password) {
      passwords.set(name, password)
      await writePasswords()
    },
    async removeUser(name) {
      passwords.delete(name)
      await writePasswords()
    },
    async makeCalendar(user, name, properties = `<D:displayname>${name}</D:displayname>`) {
      const path = `/${encodeURIComponent(user)}/${name}/`
      await request(user, 'MKCALENDAR', path, newCalendar(properties))
      return path
    },
    async makeBook(user, name) {
      const path = `/${encodeURIComponent(user)}/${name}/`
      await request(user, 'MKCOL', path, newBook(name))
      return path
    },
    async storeObjects(collection, objects) {
      for (const [name, text] of objects) await writeFile(join(folderOf(collection), name), text)
    },
    async forgetSyncTokens(calendar) {
      await rm(join(folderOf(calendar), '.Radicale.cache', 'sync-token'), { recursive: true, force: true })
    },
    async stop() {
      process.removeListener('exit', endWithUs)
      child.kill('SIGKILL')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}
