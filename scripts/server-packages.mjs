// Mail servers that conflict with Dovecot as packages. Their Debian packages are downloaded and unpacked, but not installed.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'

/** `programs` exist in the unpacked folder of the server. `users` are the system users that the programs look up by name. */
const SERVERS = [
  {
    name: 'cyrus',
    packages: ['cyrus-imapd', 'cyrus-caldav', 'sasl2-bin'],
    programs: ['usr/lib/cyrus/bin/master', 'usr/lib/cyrus/bin/httpd'],
    users: [],
  },
  { name: 'courier', packages: ['courier-imap'], programs: ['usr/bin/imapd'], users: [] },
  { name: 'exim', packages: ['exim4-daemon-light'], programs: ['usr/sbin/exim4'], users: ['Debian-exim'] },
  {
    name: 'postfix',
    packages: ['postfix', 'sasl2-bin'],
    programs: ['usr/lib/postfix/sbin/master'],
    users: ['postfix', 'postdrop'],
  },
]

/** Open to every user, because the servers run without the rights of root. */
const CACHE = '/var/tmp/posthorn-test-servers'

/** The folder of an unpacked server. Undefined when it was not unpacked for this release of Debian. */
export function unpackedServer(name) {
  const server = SERVERS.find((server) => server.name === name)
  return server !== undefined && isUnpacked(server) && server.users.every(userExists) ? folderOf(name) : undefined
}

function folderOf(name) {
  return join(CACHE, release(), name)
}

function isUnpacked({ name, programs }) {
  return programs.every((program) => existsSync(join(folderOf(name), program)))
}

/** Names of the servers that `unpackServers` has not provided. */
export function missingServers() {
  return SERVERS.map(({ name }) => name).filter((name) => unpackedServer(name) === undefined)
}

/** Downloads and unpacks the missing servers, and creates their system users as their packages would. For root on Debian. */
export function unpackServers() {
  mkdirSync(join(CACHE, release()), { recursive: true, mode: 0o755 })
  if (lstatSync(CACHE).uid !== 0) throw new Error(`${CACHE} belongs to another user. Remove it.`)
  for (const server of SERVERS) {
    const { name, packages, users } = server
    if (unpackedServer(name) !== undefined) continue
    console.log(`unpacking ${packages.join(' ')}`)
    for (const user of users.filter((user) => !userExists(user))) createUser(user)
    if (!isUnpacked(server)) unpack(server)
  }
}

/**
 * Two runs may unpack the same server. The first of them renames its folder to the final name. A folder with fewer packages, of an
 * earlier version of this file, makes way.
 */
function unpack(server) {
  const { name, packages } = server
  const folder = mkdtempSync(join(CACHE, `${name}-`))
  const root = join(folder, 'root')
  const downloads = join(folder, 'downloads')
  try {
    for (const path of [root, downloads]) mkdirSync(path)
    run('apt-get', ['download', '-qq', '-o', 'APT::Sandbox::User=root', ...withDependencies(packages)], downloads)
    for (const file of readdirSync(downloads)) run('dpkg', ['-x', file, root], downloads)
    for (const path of [folder, root]) chmodSync(path, 0o755)
    if (isUnpacked(server)) return
    if (existsSync(folderOf(name))) renameSync(folderOf(name), join(folder, 'earlier'))
    renameSync(root, folderOf(name))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The packages, and the packages that apt would install with them on this machine. */
function withDependencies(packages) {
  const plan = run('apt-get', ['install', '-s', '-qq', '--no-install-recommends', ...packages])
  return plan.split('\n').flatMap((line) => /^Inst (\S+)/.exec(line)?.[1] ?? [])
}

function createUser(name) {
  if (name === 'postdrop') run('groupadd', ['--system', name])
  else run('useradd', ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin', name])
}

/** True for users, and for groups such as postdrop. */
function userExists(name) {
  return ['/etc/passwd', '/etc/group'].some((file) => readFileSync(file, 'utf8').includes(`\n${name}:`))
}

function release() {
  return existsSync('/etc/debian_version')
    ? readFileSync('/etc/debian_version', 'utf8').trim().replaceAll('/', '-')
    : 'none'
}

function run(command, args, cwd = '/') {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' }
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: 'utf8', timeout: 600_000 })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? stderr}`)
  return stdout
}
