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

/** `program` exists in the unpacked folder of the server. `users` are the system users that the programs look up by name. */
const SERVERS = [
  { name: 'cyrus', packages: ['cyrus-imapd', 'sasl2-bin'], program: 'usr/lib/cyrus/bin/master', users: [] },
  { name: 'courier', packages: ['courier-imap'], program: 'usr/bin/imapd', users: [] },
  { name: 'exim', packages: ['exim4-daemon-light'], program: 'usr/sbin/exim4', users: ['Debian-exim'] },
  {
    name: 'postfix',
    packages: ['postfix', 'sasl2-bin'],
    program: 'usr/lib/postfix/sbin/master',
    users: ['postfix', 'postdrop'],
  },
]

/** Open to every user, because the servers run without the rights of root. */
const CACHE = '/var/tmp/posthorn-test-servers'

/** The folder of an unpacked server. Undefined when it was not unpacked for this release of Debian. */
export function unpackedServer(name) {
  const server = SERVERS.find((one) => one.name === name)
  const folder = join(CACHE, release(), name)
  const isComplete = server !== undefined && existsSync(join(folder, server.program)) && server.users.every(userExists)
  return isComplete ? folder : undefined
}

/** Names of the servers that `unpackServers` has not provided. */
export function missingServers() {
  return SERVERS.map(({ name }) => name).filter((name) => unpackedServer(name) === undefined)
}

/** Downloads and unpacks the missing servers, and creates their system users as their packages would. For root on Debian. */
export function unpackServers() {
  mkdirSync(join(CACHE, release()), { recursive: true, mode: 0o755 })
  if (lstatSync(CACHE).uid !== 0) throw new Error(`${CACHE} belongs to another user. Remove it.`)
  for (const { name, packages, users } of SERVERS) {
    if (unpackedServer(name) !== undefined) continue
    console.log(`unpacking ${packages.join(' ')}`)
    for (const user of users.filter((one) => !userExists(one))) createUser(user)
    if (!existsSync(join(CACHE, release(), name))) unpack(name, packages)
  }
}

/** Two runs may unpack the same server. The first of them renames its folder to the final name. */
function unpack(name, packages) {
  const folder = mkdtempSync(join(CACHE, `${name}-`))
  const root = join(folder, 'root')
  const downloads = join(folder, 'downloads')
  try {
    for (const path of [root, downloads]) mkdirSync(path)
    run('apt-get', ['download', '-qq', '-o', 'APT::Sandbox::User=root', ...withDependencies(packages)], downloads)
    for (const file of readdirSync(downloads)) run('dpkg', ['-x', file, root], downloads)
    for (const path of [folder, root]) chmodSync(path, 0o755)
    if (!existsSync(join(CACHE, release(), name))) renameSync(root, join(CACHE, release(), name))
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
