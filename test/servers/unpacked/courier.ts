import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../free-port.ts'
import { appendMessage, type ImapServer } from '../imap-server.ts'
import { HOST } from '../loopback.ts'
import { isUnpacked, type ServerProcess, startProcess, startUnpacked } from './process.ts'
import { MAIL_USER, processesWith, signal, unpackedEnvironment } from './unpacked.ts'

export interface CourierOptions {
  /** The capabilities that Courier announces. */
  capabilities?: string
  /** How often a session that idles looks for changes. Courier's default is 60. */
  idleSeconds?: number
}

const CAPABILITIES =
  'IMAP4rev1 UIDPLUS CHILDREN NAMESPACE THREAD=ORDEREDSUBJECT THREAD=REFERENCES SORT QUOTA ACL ACL2=UNION IDLE'
const FOLDERS = ['Drafts', 'Sent', 'Trash']

interface User {
  password: string
  home: string
}

export interface Courier extends ImapServer {
  /** The folder with the user's messages. */
  maildir(user: string): string
}

export const courierAvailable = () => isUnpacked('courier')

/** Starts Courier IMAP as the user `mail`. Folders are below `INBOX.`; there are no mod-sequences and no special uses. */
export function startCourier(options: CourierOptions = {}): Promise<Courier> {
  return startUnpacked('courier', (root, folder) => start(root, folder, options))
}

async function start(root: string, folder: string, options: CourierOptions): Promise<Courier> {
  await promisify(execFile)('sh', ['-c', 'cat cert.pem key.pem > both.pem && chmod 644 both.pem'], { cwd: folder })
  const source = new URL('courier-preload.c', import.meta.url).pathname
  const library = join(folder, 'preload.so')
  await promisify(execFile)('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl'])
  const users = new Map<string, User>()
  const authentication = await startAuthentication(join(folder, 'auth'), users)
  const environment = unpackedEnvironment(root)
  const env = {
    ...environment,
    LD_LIBRARY_PATH: `${join(root, 'usr/lib')}:${environment.LD_LIBRARY_PATH}`,
    LD_PRELOAD: library,
    ...sessionEnvironment(folder, options),
  }
  const ports = { imap: await freePort(), imaps: await freePort() }
  const listen = (port: number, name: string, tls: string[]) =>
    startProcess({
      program: join(root, 'usr/sbin/couriertcpd'),
      args: [
        `-address=${HOST}`,
        '-maxprocs=100',
        '-maxperip=100',
        '-nodnslookup',
        '-noidentlookup',
        String(port),
        ...tls,
        join(root, 'usr/lib/courier/courier/imaplogin'),
        join(root, 'usr/bin/imapd'),
        'Maildir',
      ],
      env: { ...env, PROTOCOL: name },
      ...MAIL_USER,
      ports: [port],
      folder,
    })
  const servers = [
    await listen(ports.imap, 'imap', []),
    await listen(ports.imaps, 'imaps', [join(root, 'usr/bin/couriertls'), '-server', '-tcpd']),
  ]
  return instance(folder, ports, users, servers, authentication)
}

function instance(
  folder: string,
  ports: { imap: number; imaps: number },
  users: Map<string, User>,
  servers: ServerProcess[],
  authentication: Server,
): Courier {
  let deliveries = 0
  const maildir = (user: string) => join(folder, 'home', user, 'Maildir')

  async function deliverToInbox(user: string, raw: Buffer) {
    deliveries += 1
    const name = `${Math.floor(Date.now() / 1000)}.M${String(deliveries).padStart(6, '0')}P${process.pid}.test`
    await deliverAs(maildir(user), name, raw)
  }

  const courier: Courier = {
    host: HOST,
    imapPort: ports.imap,
    imapsPort: ports.imaps,
    namespace: { prefix: 'INBOX.', separator: '.' },
    hasModSequences: false,
    maildir,
    async addUser(name, password) {
      const home = join(folder, 'home', name)
      await makeMaildir(join(home, 'Maildir'))
      for (const sub of FOLDERS) {
        await makeMaildir(join(home, 'Maildir', `.${sub}`))
        await writeFile(join(home, 'Maildir', `.${sub}`, 'maildirfolder'), '')
      }
      await promisify(execFile)('chown', ['-R', `${MAIL_USER.uid}:${MAIL_USER.gid}`, home])
      users.set(name, { password, home })
    },
    async setPassword(name, password) {
      const user = users.get(name)
      if (user !== undefined) user.password = password
    },
    async deliver(user, message, options = {}) {
      const raw = typeof message === 'string' ? Buffer.from(message) : message
      if (Object.keys(options).length === 0) await deliverToInbox(user, raw)
      else await appendMessage(courier, { user, pass: users.get(user)?.password ?? '' }, raw, options)
    },
    async endSessions(user) {
      for (const pid of processesWith(`AUTHENTICATED=${user}`, folder)) signal(pid, 'SIGTERM')
    },
    async stop() {
      for (const server of servers) await server.end()
      await new Promise((resolve) => authentication.close(resolve))
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  return courier
}

/** Delivers a message to a Maildir, as the file with this name. */
export async function deliverAs(maildir: string, name: string, raw: Buffer): Promise<void> {
  const written = join(maildir, 'tmp', name)
  // The lines of a Maildir end with a line feed alone. Courier adds the carriage returns.
  await writeFile(written, raw.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
  await chown(written, MAIL_USER.uid, MAIL_USER.gid)
  await rename(written, join(maildir, 'new', name))
}

async function makeMaildir(path: string): Promise<void> {
  for (const name of ['cur', 'new', 'tmp']) await mkdir(join(path, name), { recursive: true })
}

/**
 * Plays authdaemond: a request has variables of the connection, `AUTH <length>`, and the lines service, kind (`login`), user and password.
 * The response is the user's settings, a line each, and a dot; or FAIL.
 */
async function startAuthentication(path: string, users: ReadonlyMap<string, User>): Promise<Server> {
  const server = createServer((socket) => {
    let request = ''
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      request += chunk.toString('utf8')
      const [, length = '', rest = ''] = /^AUTH (\d+)\n([\s\S]*)/m.exec(request) ?? []
      if (length === '' || Buffer.byteLength(rest) < Number(length)) return
      const [, kind, name = '', password] = rest.split('\n')
      const user = users.get(name)
      if (kind !== 'login' || user === undefined || user.password !== password) return void socket.end('FAIL\n')
      socket.end(
        `ADDRESS=${name}\nUID=${MAIL_USER.uid}\nGID=${MAIL_USER.gid}\nHOME=${user.home}\nMAILDIR=${user.home}/Maildir\n.\n`,
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  await chmod(path, 0o666)
  return server
}

function sessionEnvironment(folder: string, { capabilities = CAPABILITIES, idleSeconds = 1 }: CourierOptions) {
  return {
    COURIER_AUTH_SOCKET: join(folder, 'auth'),
    IMAP_CAPABILITY: capabilities,
    IMAP_KEYWORDS: '1',
    IMAP_ACL: '1',
    IMAP_IDLE_TIMEOUT: String(idleSeconds),
    IMAP_CHECK_ALL_FOLDERS: '0',
    IMAP_USELOCKS: '1',
    IMAP_ENHANCEDIDLE: '0',
    IMAP_TRASHFOLDERNAME: 'Trash',
    IMAP_EMPTYTRASH: '',
    IMAP_MOVE_EXPUNGE_TO_TRASH: '0',
    IMAP_SHAREDINDEXFILE: join(folder, 'shared-index'),
    IMAP_UMASK: '022',
    TLS_CERTFILE: join(folder, 'both.pem'),
    TLS_VERIFYPEER: 'NONE',
    TLS_PROTOCOL: 'TLS1_2++',
  }
}
