import { execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync, readlinkSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { eventually } from '../kit/eventually.ts'
import { checkPasswordScript, type DovecotPorts, dovecotConfig, dovecotOAuthConfig } from './dovecot-config.ts'
import { freePort } from './free-port.ts'
import { appendMessage, type ImapServer } from './imap-server.ts'
import { lmtpDeliver } from './lmtp.ts'
import { accepts, HOST, makeCertificate } from './loopback.ts'

const run = promisify(execFile)

export interface DovecotOptions {
  /** Capabilities to hide after login, such as `IDLE`, `CONDSTORE`, `QRESYNC`. */
  hideCapabilities?: string[]
  /** Prefix of every folder but INBOX, such as `INBOX.`. */
  prefix?: string
  separator?: '/' | '.'
  /** Connections per user and address. Default 100. */
  maxUserIpConnections?: number
  /** Writes `cert.pem` and `key.pem` to the folder, and returns the certificate. Default: a self-signed one. */
  makeCertificate?(folder: string): Promise<string>
  /** Offers OAUTHBEARER and XOAUTH2, and asks this issuer about tokens. The `sub` of a token is the user. */
  oauth?: { introspectionUrl: string }
  /** Where another server may ask whether logins are valid. */
  authPort?: number
  /** More lines of Dovecot configuration. */
  extraConfig?: string
}

/** A real Dovecot, whose `imapPort` offers STARTTLS. */
export interface Dovecot extends ImapServer {
  readonly lmtpPort: number
  /** PEM, by default of a self-signed certificate for `localhost` and 127.0.0.1. */
  readonly certificate: string
  /** Into INBOX, over one LMTP connection. */
  deliverMany(user: string, messages: Iterable<Buffer>): Promise<void>
  /** Ends the open sessions of a user, once there is one: between two logins Dovecot would find none and fail. */
  kick(user: string): Promise<void>
  /** Runs `doveadm` on this server and returns its output. */
  doveadm(...args: string[]): Promise<string>
  /** Stops the server with all its connections and starts it on the same ports. */
  restart(): Promise<void>
  /** Stops the server until `restart()`. */
  shutDown(): Promise<void>
  /** Sends SIGSTOP to every IMAP process: connections stay open without responses. */
  pause(): void
  resume(): void
  log(): Promise<string>
}

/** False without Debian's Dovecot or without root. Tests that need it are then skipped. */
export function dovecotAvailable(): boolean {
  return existsSync('/usr/sbin/dovecot') && existsSync('/usr/lib/dovecot/lmtp') && process.getuid?.() === 0
}

export async function startDovecot(options: DovecotOptions = {}): Promise<Dovecot> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-dovecot-'))
  await chmod(folder, 0o755)
  await mkdir(join(folder, 'home'))
  await chmod(join(folder, 'home'), 0o777)
  await mkdir(join(folder, 'users'))
  await mkdir(join(folder, 'passwords'))
  await writeFile(join(folder, 'checkpassword'), checkPasswordScript(folder), { mode: 0o755 })
  if (options.oauth !== undefined) await writeFile(join(folder, 'oauth2.conf'), dovecotOAuthConfig(options.oauth))
  const certificate = await (options.makeCertificate ?? makeCertificate)(folder)
  // Another process may take a free port before Dovecot binds it, so retry with other ports.
  for (let attempt = 1; ; attempt += 1) {
    const ports: DovecotPorts = { imap: await freePort(), imaps: await freePort(), lmtp: await freePort() }
    await writeFile(join(folder, 'dovecot.conf'), dovecotConfig(folder, HOST, ports, options))
    try {
      const server = await startServer(folder, ports)
      return instance(folder, ports, certificate, server, options)
    } catch (error) {
      if (attempt < 3) continue
      await rm(folder, { recursive: true, force: true })
      throw error
    }
  }
}

interface Server {
  pid: number
  end(): Promise<void>
}

async function startServer(folder: string, ports: DovecotPorts): Promise<Server> {
  const child = spawn('/usr/sbin/dovecot', ['-F', '-c', join(folder, 'dovecot.conf')], { stdio: 'pipe' })
  let output = ''
  child.stderr.on('data', (chunk) => {
    output += String(chunk)
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let running = true
  void exited.then(() => {
    running = false
  })
  const endWithUs = () => child.kill('SIGTERM')
  process.once('exit', endWithUs)
  const server: Server = {
    pid: child.pid ?? 0,
    async end() {
      process.removeListener('exit', endWithUs)
      if (running) signalImap(server.pid, 'SIGCONT')
      const processes = running ? findChildren(server.pid) : []
      child.kill('SIGTERM')
      // The auth process may linger for 30 s after a rejected login. Killing it loses nothing.
      const killTimer = setTimeout(() => {
        for (const pid of processes) signal(pid, 'SIGKILL')
        child.kill('SIGKILL')
      }, 300)
      await exited
      clearTimeout(killTimer)
    },
  }
  await eventually(
    async () => {
      if (!running) return
      await Promise.all([ports.imap, ports.imaps, ports.lmtp].map(accepts))
    },
    10_000,
    10,
  ).catch(async (error) => {
    await server.end()
    throw error
  })
  if (!running) throw new Error(`Dovecot did not start: ${output}`)
  return server
}

function instance(
  folder: string,
  ports: DovecotPorts,
  certificate: string,
  first: Server,
  { prefix = '', separator = '/', hideCapabilities = [] }: DovecotOptions,
): Dovecot {
  let server: Server | undefined = first
  const passwords = new Map<string, string>()
  // Linux limits inotify instances per uid (128), so every user of every server gets its own uid.
  const firstUid = 100_000 + Math.floor(Math.random() * 1_000_000)

  async function writePassword(name: string, password: string) {
    const file = join(folder, 'passwords', name)
    await writeFile(`${file}.new`, `${password}\n`)
    await rename(`${file}.new`, file)
    passwords.set(name, password)
  }

  const dovecot: Dovecot = {
    host: HOST,
    imapPort: ports.imap,
    imapsPort: ports.imaps,
    lmtpPort: ports.lmtp,
    certificate,
    namespace: { prefix, separator },
    hasModSequences: !hideCapabilities.includes('CONDSTORE'),
    async addUser(name, password) {
      const uid = firstUid + passwords.size
      await writeFile(join(folder, 'users', name), `${name}::${uid}:${uid}::${folder}/home/${uid}::\n`)
      await writePassword(name, password)
    },
    setPassword: (name, password) => writePassword(name, password),
    async deliver(user, message, options = {}) {
      const raw = typeof message === 'string' ? Buffer.from(message) : message
      if (Object.keys(options).length === 0) await dovecot.deliverMany(user, [raw])
      else await appendMessage(dovecot, { user, pass: passwords.get(user) ?? '' }, raw, options)
    },
    deliverMany: (user, messages) => lmtpDeliver({ host: HOST, port: ports.lmtp }, user, messages),
    async kick(user) {
      await eventually(() => dovecot.doveadm('kick', user))
    },
    async endSessions(user) {
      await dovecot.doveadm('kick', user).catch(() => '')
    },
    async doveadm(...args) {
      const { stdout } = await run('/usr/bin/doveadm', ['-c', join(folder, 'dovecot.conf'), ...args])
      return stdout
    },
    async shutDown() {
      const ended = server
      server = undefined
      await ended?.end()
    },
    async restart() {
      await dovecot.shutDown()
      server = await startServer(folder, ports)
    },
    pause() {
      if (server !== undefined) signalImap(server.pid, 'SIGSTOP')
    },
    resume() {
      if (server !== undefined) signalImap(server.pid, 'SIGCONT')
    },
    log: () => readFile(join(folder, 'dovecot.log'), 'utf8'),
    async stop() {
      await dovecot.shutDown()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  return dovecot
}

/** IMAP children of the master. With TLS, the login process stays between the client and the imap process. */
function imapProcesses(masterPid: number): number[] {
  return findChildren(masterPid).filter((pid) => {
    try {
      return /\/imap(-login)?$/.test(readlinkSync(`/proc/${pid}/exe`))
    } catch {
      return false // The process has ended.
    }
  })
}

/** Signals the master too, which would otherwise replace suspended processes. */
function signalImap(masterPid: number, name: NodeJS.Signals): void {
  signal(masterPid, name)
  for (const pid of imapProcesses(masterPid)) signal(pid, name)
}

function findChildren(masterPid: number): number[] {
  const children = readFileSync(`/proc/${masterPid}/task/${masterPid}/children`, 'utf8')
  return children.split(' ').filter(Boolean).map(Number)
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has ended.
  }
}
