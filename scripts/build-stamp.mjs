// Whether dist/ was built from the present sources and packages. Compares contents, because a checkout, a clone or a copy changes times.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const STAMP = 'dist/.build'
/** A change of one of their files needs a new build: the sources, and the scripts that build them. */
const SOURCE_FOLDERS = ['src', 'scripts']
const SOURCE_FILES = ['openapi.json', 'package.json', 'package-lock.json']
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
  const isSource = ({ name }) => !/\.test\.(ts|mjs)$/.test(name)
  const sources = SOURCE_FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && isSource(entry))
      .map((entry) => join(entry.parentPath, entry.name)),
  )
  return hashFiles([...sources.sort(), ...SOURCE_FILES])
}

function packagesHash() {
  return hashFiles([INSTALLED])
}

function hashFiles(files) {
  const hash = createHash('sha256')
  for (const file of files.filter(existsSync)) hash.update(`${file}\0`).update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}
