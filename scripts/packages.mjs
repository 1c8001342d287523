// What the tests need beside npm packages: Debian's packages, in one place, and how to see that each is there.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** `file` proves the package; `without` says what is not run when it is missing. */
const PACKAGES = [
  { name: 'dovecot-imapd', file: '/usr/lib/dovecot/imap', without: 'everything on a real IMAP server' },
  { name: 'dovecot-lmtpd', file: '/usr/lib/dovecot/lmtp', without: 'everything on a real IMAP server' },
  { name: 'redis-server', file: '/usr/bin/redis-server', without: 'everything on Redis' },
  { name: 'chromium', file: '/usr/bin/chromium', without: 'the hosted pages in a browser' },
  { name: 'fonts-liberation', file: '/usr/share/fonts/truetype/liberation', without: 'readable pages in the browser' },
]

const isRoot = process.getuid?.() === 0

/** Installs what is missing when this is root on Debian; answers, as sentences, what stays missing and why. */
export function providePackages() {
  const wanted = missing()
  if (wanted.length > 0 && isRoot && existsSync('/etc/debian_version')) install(wanted.map(({ name }) => name))
  const reason = existsSync('/etc/debian_version')
    ? 'it could not be installed (only root can)'
    : 'it is installed on Debian only'
  const lines = missing().map(({ name, without }) => `${without}: ${name} is missing; ${reason}`)
  // Dovecot's test users need processes of other users.
  if (!isRoot) lines.push('everything on a real IMAP server: it is started by root only')
  return [...new Set(lines)]
}

function missing() {
  return PACKAGES.filter(({ file }) => !existsSync(file))
}

function install(names) {
  console.log(`installing ${names.join(' ')}`)
  const options = { stdio: ['ignore', 'ignore', 'inherit'], timeout: 600_000 }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  // Stale lists are the usual reason of a failure, and refreshing them fails without a network: then try as it is.
  spawnSync('apt-get', ['update', '-qq', '-o', 'Acquire::Retries=3'], { ...options, env })
  try {
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], { ...options, env })
  } catch (error) {
    console.log(`apt-get failed: ${error.message}`)
  }
}
