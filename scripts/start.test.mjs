import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

let folder
const write = (file, text) => writeFileSync(join(folder, file), text)
const start = (...args) => spawnSync(process.execPath, ['scripts/start.mjs', 'posthorn', ...args], { cwd: folder })
const output = (...args) => start(...args).stdout.toString()

/** A project whose build prints "built", and whose program prints its arguments and exits with code 3. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-start-'))
  for (const name of ['scripts', 'src', 'node_modules/esbuild']) mkdirSync(join(folder, name), { recursive: true })
  for (const name of ['start.mjs', 'build-stamp.mjs']) cpSync(join('scripts', name), join(folder, 'scripts', name))
  const program = 'console.log(process.argv.slice(2).join(" ")); process.exitCode = 3'
  write('src/main.ts', '')
  write('package.json', '{ "type": "module" }')
  write(
    'scripts/build.mjs',
    `import { mkdirSync, writeFileSync } from 'node:fs'
     import { writeStamp } from './build-stamp.mjs'
     mkdirSync('dist', { recursive: true })
     writeFileSync('dist/posthorn.js', ${JSON.stringify(program)})
     writeStamp()
     console.log('built')`,
  )
})
afterEach(() => rmSync(folder, { recursive: true }))

it('builds a fresh clone, then runs the program with its arguments and exit code', () => {
  const { status, stdout } = start('start', '--now')
  expect([stdout.toString(), status]).toEqual(['built\nstart --now\n', 3])
})

it('builds again only when a source, the lockfile or the packages changed', () => {
  output()
  utimesSync(join(folder, 'src/main.ts'), new Date(), new Date())
  write('src/main.test.ts', 'tests are not part of it')
  expect(output('same')).toBe('same\n')
  write('src/added.ts', '')
  expect(output('added')).toBe('built\nadded\n')
  rmSync(join(folder, 'src/added.ts'))
  expect(output('removed')).toBe('built\nremoved\n')
  write('package-lock.json', '{}')
  expect(output('lockfile')).toBe('built\nlockfile\n')
  write('node_modules/.package-lock.json', '{}')
  expect(output('packages')).toBe('built\npackages\n')
})

it('builds again after a build that was interrupted', () => {
  output()
  rmSync(join(folder, 'dist/.build'))
  expect(output('again')).toBe('built\nagain\n')
})

it('runs what was built where the sources or the development packages are not installed', () => {
  output()
  rmSync(join(folder, 'node_modules'), { recursive: true })
  write('node_modules', '')
  expect([output('production'), start().stderr.toString()]).toEqual(['production\n', ''])
  write('src/main.ts', 'changed')
  expect([output('outdated'), start().stderr.toString()]).toEqual(['outdated\n', expect.stringContaining('outdated')])
  rmSync(join(folder, 'src'), { recursive: true })
  expect([output('installed'), start().stderr.toString()]).toEqual(['installed\n', ''])
})

it('says what to do when there is no build and none can be made', () => {
  rmSync(join(folder, 'node_modules'), { recursive: true })
  const { status, stderr } = start()
  expect([status, stderr.toString()]).toEqual([1, expect.stringContaining('npm ci && npm run build')])
})

it('is the process of the program, so that a signal reaches it', async () => {
  output()
  write(
    'dist/posthorn.js',
    `process.on('SIGTERM', () => process.exit(7)); console.log(process.pid); setInterval(() => {}, 1000)`,
  )
  const child = spawn(process.execPath, ['scripts/start.mjs', 'posthorn'], { cwd: folder })
  const pid = await new Promise((resolve) => child.stdout.once('data', (data) => resolve(Number(data))))
  expect(pid).toBe(child.pid)
  child.kill('SIGTERM')
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(7)
})

it('takes the place of the shell in npm start, so that signals to npm reach it', () => {
  expect(JSON.parse(readFileSync('package.json', 'utf8')).scripts.start).toBe(
    'exec node scripts/start.mjs posthorn start',
  )
})
