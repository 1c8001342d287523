// `npm start` and `npm run demo`: builds when dist/ is missing or outdated, then runs a program of dist/ in this process.
// The build is a process of its own, so that the program does not hold the bundler in memory.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packagesChanged, sourcesChanged } from './build-stamp.mjs'

process.chdir(new URL('..', import.meta.url).pathname)
const [name, ...args] = process.argv.slice(2)
const program = resolve('dist', `${name}.js`)
// An installation for production has no bundler, and runs what was built before.
if (existsSync('node_modules/esbuild')) {
  if (sourcesChanged() || packagesChanged()) {
    const { status } = spawnSync(process.execPath, ['scripts/build.mjs', '--quiet'], { stdio: 'inherit' })
    if (status !== 0) process.exit(1)
  }
} else if (sourcesChanged()) {
  console.error(
    `${program} is missing or outdated. Run "npm ci && npm run build": building needs the development packages.`,
  )
  if (!existsSync(program)) process.exit(1)
}
process.argv = [process.execPath, program, ...args]
await import(pathToFileURL(program).href)
