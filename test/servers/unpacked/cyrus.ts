import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../free-port.ts'
import { appendMessage, type ImapServer } from '../imap-server.ts'
import { lmtpDeliver } from '../lmtp.ts'
import { HOST } from '../loopback.ts'
import { isUnpacked, type ServerProcess, startProcess, startUnpacked } from './process.ts'
import { giveTo, MAIL_USER, signal, unpackedEnvironment } from './unpacked.ts'

export interface CyrusOptions {
  /** Folders are below `INBOX.`, as on servers without `altnamespace` and `unixhierarchysep`. Default: `Sent`, `Work/2026`. */
  belowInbox?: boolean
  /** Sessions that a user may have at the same time. */
  maxLoginsPerUser?: number
  /** Serves calendars, too. */
  hasCalendars?: boolean
  /** More lines of imapd.conf. */
  extraConfig?: string
}

export interface Cyrus extends ImapServer {
  /** The port for calendars; 0 without them. */
  readonly httpPort: number
  /** Runs a program of Cyrus, such as `cyr_expire`. */
  run(program: string, ...args: string[]): Promise<void>
}

export const cyrusAvailable = () => isUnpacked('cyrus')

/** Starts Cyrus IMAP as the user `mail`. */
export function startCyrus(options: CyrusOptions = {}): Promise<Cyrus> {
  return startUnpacked('cyrus', (root, folder) => start(root, folder, options))
}

async function start(root: string, folder: string, options: CyrusOptions): Promise<Cyrus> {
  const ports = { imap: await freePort(), imaps: await freePort(), lmtp: await freePort() }
  const httpPort = options.hasCalendars ? await freePort() : 0
  for (const path of ['conf/socket', 'conf/db', 'conf/proc', 'conf/log', 'spool']) {
    await mkdir(join(folder, path), { recursive: true })
  }
  await writeFile(join(folder, 'imapd.conf'), imapdConfig(folder, options))
  await writeFile(join(folder, 'cyrus.conf'), cyrusConfig(folder, root, { ...ports, http: httpPort }))
  await giveTo(MAIL_USER, folder, ['', 'conf', 'conf/socket', 'conf/db', 'conf/proc', 'conf/log', 'spool', 'key.pem'])
  const env = unpackedEnvironment(root)
  const server = await startProcess({
    program: join(root, 'usr/lib/cyrus/bin/master'),
    args: [
      '-C',
      join(folder, 'imapd.conf'),
      '-M',
      join(folder, 'cyrus.conf'),
      '-p',
      join(folder, 'master.pid'),
      '-D',
      '-L',
      join(folder, 'master.log'),
    ],
    env,
    ...MAIL_USER,
    ports: [...Object.values(ports), ...(httpPort === 0 ? [] : [httpPort])],
    folder,
  })
  return instance(folder, root, env, { ...ports, http: httpPort }, server, options)
}

function instance(
  folder: string,
  root: string,
  env: Record<string, string>,
  ports: Ports,
  server: ServerProcess,
  { belowInbox = false }: CyrusOptions,
): Cyrus {
  const passwords = new Map<string, string>()

  async function setPassword(user: string, password: string) {
    const args = ['-p', '-c', '-f', join(folder, 'sasldb2'), '-u', REALM, user]
    const child = spawn(join(root, 'usr/sbin/saslpasswd2'), args, {
      env,
      ...MAIL_USER,
      stdio: ['pipe', 'ignore', 'pipe'],
    })
    let output = ''
    child.stderr.on('data', (chunk) => {
      output += String(chunk)
    })
    child.stdin.end(`${password}\n`)
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`saslpasswd2 failed: ${output}`)
    passwords.set(user, password)
  }

  const cyrus: Cyrus = {
    host: HOST,
    httpPort: ports.http,
    imapPort: ports.imap,
    imapsPort: ports.imaps,
    namespace: belowInbox ? { prefix: 'INBOX.', separator: '.' } : { prefix: '', separator: '/' },
    hasModSequences: true,
    addUser: setPassword,
    setPassword,
    async deliver(user, message, options = {}) {
      const raw = typeof message === 'string' ? Buffer.from(message) : message
      if (Object.keys(options).length === 0) await lmtpDeliver({ host: HOST, port: ports.lmtp }, user, [raw])
      else await appendMessage(cyrus, { user, pass: passwords.get(user) ?? '' }, raw, options)
    },
    async run(program, ...args) {
      const command = join(root, 'usr/lib/cyrus/bin', program)
      await promisify(execFile)(command, ['-C', join(folder, 'imapd.conf'), ...args], { env, ...MAIL_USER })
    },
    async endSessions(user) {
      for (const pid of findSessions(folder, user)) signal(pid, 'SIGTERM')
    },
    async stop() {
      await server.end()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  return cyrus
}

/** Processes with an open session of the user. Cyrus writes a file for each: process, host, user, folder. */
function findSessions(folder: string, user: string): number[] {
  const sessions = join(folder, 'conf/proc')
  return readdirSync(sessions).flatMap((pid) => {
    const [, , , name] = readFileSync(join(sessions, pid), 'utf8').split('\t')
    return name === user ? [Number(pid)] : []
  })
}

interface Ports {
  imap: number
  imaps: number
  lmtp: number
  /** 0: no calendars. */
  http: number
}

const REALM = 'mail.example.test'

function imapdConfig(
  folder: string,
  { belowInbox = false, maxLoginsPerUser, hasCalendars = false, extraConfig = '' }: CyrusOptions,
): string {
  const special = ['Drafts', 'Sent', 'Trash']
  return `
configdirectory: ${folder}/conf
defaultpartition: default
partition-default: ${folder}/spool
skiplist_unsafe: yes
cyrus_user: mail
servername: ${REALM}
virtdomains: off
unixhierarchysep: ${belowInbox ? 'no' : 'yes'}
altnamespace: ${belowInbox ? 'no' : 'yes'}
allowplaintext: yes
sasl_pwcheck_method: auxprop
sasl_auxprop_plugin: sasldb
sasl_sasldb_path: ${folder}/sasldb2
sasl_mech_list: PLAIN LOGIN
failedloginpause: 0
autocreate_quota: 0
autocreate_users: anyone
autocreate_post: yes
autocreate_inbox_folders: ${special.join(' | ')}
autocreate_subscribe_folders: ${special.join(' | ')}
${special.map((name) => `xlist-${name.toLowerCase()}: ${name}`).join('\n')}
imapidlepoll: 1
tls_server_cert: ${folder}/cert.pem
tls_server_key: ${folder}/key.pem
${hasCalendars ? CALENDARS : ''}
${maxLoginsPerUser === undefined ? '' : `maxlogins_per_user: ${maxLoginsPerUser}`}
${extraConfig}
`
}

const CALENDARS = `
httpmodules: caldav
caldav_create_default: yes
caldav_allowscheduling: off
httpallowcompress: no
`

function cyrusConfig(folder: string, root: string, ports: Ports): string {
  const command = (name: string) => `${root}/usr/lib/cyrus/bin/${name} -C ${folder}/imapd.conf`
  return `
START {
  recover cmd="${command('ctl_cyrusdb')} -r"
  idled cmd="${command('idled')}"
}
SERVICES {
  imap cmd="${command('imapd')} -U 30" listen="${HOST}:${ports.imap}" prefork=1 proto=tcp4
  imaps cmd="${command('imapd')} -U 30 -s" listen="${HOST}:${ports.imaps}" prefork=1 proto=tcp4
  lmtp cmd="${command('lmtpd')} -a" listen="${HOST}:${ports.lmtp}" prefork=1 proto=tcp4
  ${ports.http === 0 ? '' : `http cmd="${command('httpd')} -U 30" listen="${HOST}:${ports.http}" prefork=1 proto=tcp4`}
}
`
}
