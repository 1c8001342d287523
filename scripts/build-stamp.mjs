// Whether dist/ was built from the present sources and packages. Compares contents, because a checkout, a clone or a copy changes times.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const STAMP = 'dist/.build'
const BUILD_FILES = [
  'scripts/admin.mjs',
  'scripts/build.mjs',
  'scripts/bundle.mjs',
  'scripts/dynamic-imports.mjs',
  'scripts/hoodiecrow.mjs',
  'scripts/imported-names.mjs',
  'scripts/licences.mjs',
  'scripts/reference.mjs',
  'scripts/served.mjs',
  'scripts/widget.mjs',
  'openapi.json',
  'package.json',
  'package-lock.json',
]
/** npm's list of the installed packages. */
const INSTALLED = 'node_modules/.package-lock.json'

/** Marks a build as complete. Like all of these, for the project's folder as current directory. */
export function writeStamp() {
  writeFileSync(STAMP, `${sourcesHash()} ${packagesHash()}`)
}

/** True when there is no build, or the sources have changed since. Takes about 15 ms. An installed package has no sources. */
export function sourcesChanged() {
  return existsSync('src') && readStamp()[0] !== sourcesHash()
}

/** True when other packages were installed since the build, for example without those for development. */
export function packagesChanged() {
  return existsSync('src') && readStamp()[1] !== packagesHash()
}

function readStamp() {
  return existsSync(STAMP) ? readFileSync(STAMP, 'utf8').split(' ') : []
}

function sourcesHash() {
  const sources = readdirSync('src', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
  return hashFiles([...sources.sort(), ...BUILD_FILES])
}

function packagesHash() {
  return hashFiles([INSTALLED])
}

function hashFiles(files) {
  const hash = createHash('sha256')
  for (const file of files.filter(existsSync)) hash.update(`${file}\0`).update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}
