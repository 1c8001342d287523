import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { ImapServer } from '../imap-server.ts'
import { type Maildir, openMaildir } from './maildir.ts'

/** A mail program that keeps a Maildir in sync with folders of a server. */
export interface SyncClient extends Maildir {
  /** Syncs once, in both directions. */
  sync(): Promise<void>
  stop(): Promise<void>
}

export interface SyncClientOptions {
  server: ImapServer
  user: string
  password: string
  /** Paths on the server. */
  folders: readonly string[]
  /** Called with each line that the program prints about what it does. */
  onLine?(line: string): void
}

export type SyncClientName = 'mbsync' | 'offlineimap'

const PROGRAMS: Record<SyncClientName, string> = { mbsync: '/usr/bin/mbsync', offlineimap: '/usr/bin/offlineimap' }
/** Ends a program that a server keeps waiting. */
const TIMEOUT_MS = 300_000

export function syncClientAvailable(name: SyncClientName): boolean {
  return existsSync(PROGRAMS[name])
}

export async function openSyncClient(name: SyncClientName, options: SyncClientOptions): Promise<SyncClient> {
  const folder = await mkdtemp(join(tmpdir(), `posthorn-${name}-`))
  const config = join(folder, 'config')
  const mail = join(folder, 'mail')
  await mkdir(mail)
  const isMbsync = name === 'mbsync'
  await writeFile(config, isMbsync ? mbsyncConfig(folder, options) : offlineimapConfig(folder, options), {
    mode: 0o600,
  })
  const args = isMbsync ? ['-c', config, '-a', '-Dn'] : ['-c', config, '-o', '-u', 'basic']
  const localName = isMbsync ? withoutPrefix : (path: string) => path
  const localFolders = options.folders.map((path) => [path, join(mail, localName(path, options.server))])
  return {
    ...openMaildir(Object.fromEntries(localFolders)),
    sync: () => runProgram(PROGRAMS[name], args, folder, options.onLine),
    stop: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Rejects when the program fails, with the last line that it printed. */
async function runProgram(
  program: string,
  args: readonly string[],
  home: string,
  onLine?: (line: string) => void,
): Promise<void> {
  const child = spawn(program, args, {
    timeout: TIMEOUT_MS,
    env: { PATH: '/usr/bin:/bin', HOME: home, PYTHONUNBUFFERED: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let last = ''
  const read = (stream: Readable) =>
    createInterface(stream).on('line', (line) => {
      last = line
      onLine?.(line)
    })
  read(child.stdout)
  read(child.stderr)
  const [code, signal] = await once(child, 'close')
  if (code !== 0) throw new Error(`${program} ended with ${signal ?? `code ${code}`}: ${last}`)
}

function withoutPrefix(path: string, { namespace: { prefix } }: ImapServer): string {
  return path.startsWith(prefix) ? path.slice(prefix.length) : path
}

function mbsyncConfig(folder: string, { server, user, password, folders }: SyncClientOptions): string {
  const { prefix, separator } = server.namespace
  return `
IMAPAccount account
Host ${server.host}
Port ${server.imapPort}
User ${user}
Pass ${password}
SSLType None
AuthMechs LOGIN

IMAPStore far
Account account
PathDelimiter ${separator}
${prefix === '' ? '' : `Path ${prefix}`}

MaildirStore near
SubFolders Verbatim
Path ${folder}/mail/
Inbox ${folder}/mail/INBOX

Channel all
Far :far:
Near :near:
Patterns ${folders.map((path) => withoutPrefix(path, server)).join(' ')}
Create Near
Expunge Both
CopyArrivalDate yes
SyncState ${folder}/state-
`
}

function offlineimapConfig(folder: string, { server, user, password, folders }: SyncClientOptions): string {
  return `
[general]
accounts = account
metadata = ${folder}/metadata
maxsyncaccounts = 1

[Account account]
localrepository = local
remoterepository = remote

[Repository local]
type = Maildir
localfolders = ${folder}/mail

[Repository remote]
type = IMAP
remotehost = ${server.host}
remoteport = ${server.imapPort}
remoteuser = ${user}
remotepass = ${password}
ssl = no
starttls = no
auth_mechanisms = LOGIN
maxconnections = 1
createfolders = no
folderfilter = lambda name: name in [${folders.map((path) => `'${path}'`).join(', ')}]
`
}
