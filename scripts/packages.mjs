// The Debian packages that the tests need, and how to detect each.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { missingServers, unpackServers } from './server-packages.mjs'

/** `file` exists when the package is installed. `without` names the tests that are skipped otherwise. */
const PACKAGES = [
  { name: 'dovecot-imapd', file: '/usr/lib/dovecot/imap', without: 'everything on a real IMAP server' },
  { name: 'dovecot-lmtpd', file: '/usr/lib/dovecot/lmtp', without: 'everything on a real IMAP server' },
  { name: 'radicale', file: '/usr/bin/radicale', without: 'calendars on a real CalDAV server' },
  { name: 'xandikos', file: '/usr/bin/xandikos', without: 'calendars on a second CalDAV server' },
  { name: 'redis-server', file: '/usr/bin/redis-server', without: 'everything on Redis' },
  { name: 'prometheus', file: '/usr/bin/promtool', without: 'the alert rules of deploy/' },
  { name: 'chromium', file: '/usr/bin/chromium', without: 'embedded pages where cookies are blocked' },
  {
    name: 'chromium-headless-shell',
    file: '/usr/bin/chromium-headless-shell',
    without: 'the hosted pages in a browser',
  },
  { name: 'fonts-liberation', file: '/usr/share/fonts/truetype/liberation', without: 'readable pages in the browser' },
  {
    name: 'fonts-ipafont-gothic',
    file: '/usr/share/fonts/opentype/ipafont-gothic',
    without: 'Japanese pages in the browser',
  },
  { name: 'isync', file: '/usr/bin/mbsync', without: 'mbsync beside the service (soak)' },
  { name: 'offlineimap3', file: '/usr/bin/offlineimap', without: 'OfflineIMAP beside the service (soak)' },
  { name: 'faketime', file: '/usr/bin/faketime', without: 'jumps of the clock (soak)' },
  {
    name: 'python3-fusepy',
    file: '/usr/lib/python3/dist-packages/fusepy.py',
    without: 'a disk that becomes read-only (soak)',
  },
  {
    name: 'python3-dateutil',
    file: '/usr/lib/python3/dist-packages/dateutil',
    without: 'generated calendars beside another implementation',
  },
  {
    name: 'python3-icalendar',
    file: '/usr/lib/python3/dist-packages/icalendar',
    without: 'calendar files read by another program',
  },
  {
    name: 'python3-vobject',
    file: '/usr/lib/python3/dist-packages/vobject',
    without: 'calendar files read by a third program',
  },
  { name: 'tzdata', file: '/usr/share/zoneinfo/tzdata.zi', without: 'time zones of the system' },
  { name: 'unzip', file: '/usr/bin/unzip', without: 'the Helm chart' },
  { name: 'systemd', file: '/usr/bin/systemd-analyze', without: 'the systemd unit' },
  { name: 'mmdebstrap', file: '/usr/bin/mmdebstrap', without: 'the image (soak)' },
  { name: 'crun', file: '/usr/bin/crun', without: 'the image (soak)' },
  { name: 'libidn12', file: '/usr/share/doc/libidn12', without: 'sending through Exim' },
  { name: 'libjemalloc2', file: '/usr/share/doc/libjemalloc2', without: 'memory after attacks (soak)' },
]

const isRoot = process.getuid?.() === 0

/** Installs missing packages as root on Debian. Returns one sentence for each that is still missing. */
export function providePackages() {
  const wanted = missing()
  const canInstall = isRoot && existsSync('/etc/debian_version')
  if (canInstall && (wanted.length > 0 || missingServers().length > 0)) updateLists()
  if (canInstall && wanted.length > 0) install(wanted.map(({ name }) => name))
  if (canInstall && missingServers().length > 0) unpack()
  const reason = existsSync('/etc/debian_version')
    ? 'it could not be installed (only root can)'
    : 'it is installed on Debian only'
  const lines = missing().map(({ name, without }) => `${without}: ${name} is missing; ${reason}`)
  for (const name of missingServers()) lines.push(`everything on ${name}: its packages are missing; ${reason}`)
  // Dovecot starts processes as other users.
  if (!isRoot) lines.push('everything on a real IMAP server: only root can start it')
  return [...new Set(lines)]
}

function missing() {
  return PACKAGES.filter(({ file }) => !existsSync(file))
}

/** An install usually fails because of outdated lists. Without a network the update fails, and the install may still work. */
function updateLists() {
  spawnSync('apt-get', ['update', '-qq', '-o', 'Acquire::Retries=3'], aptOptions())
}

function install(names) {
  console.log(`installing ${names.join(' ')}`)
  try {
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], aptOptions())
  } catch (error) {
    console.log(`apt-get failed: ${error.message}`)
  }
}

function unpack() {
  try {
    unpackServers()
  } catch (error) {
    console.log(`The mail servers could not be unpacked: ${error.message}`)
  }
}

function aptOptions() {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return { stdio: ['ignore', 'ignore', 'inherit'], timeout: 600_000, env }
}
