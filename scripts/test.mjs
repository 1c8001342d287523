// `npm test` and `npm run test:soak`: provides what the tests need, builds, runs them, and ends with what was not run, why,
// and the plain line "N passed, N failed". CI=true turns anything that was not run into a failure.
// Databases of `npm test` are in memory where the machine has enough, which halves the time spent in the kernel.
// Arguments: `soak` for the long tests; anything else goes to vitest, for example a folder.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { providePackages } from './packages.mjs'
import { summarise } from './test-report.mjs'

process.chdir(new URL('..', import.meta.url).pathname)
const args = process.argv.slice(2)
const isSoak = args[0] === 'soak'
const reasons = providePackages()

const build = spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' })
if (build.status !== 0) process.exit(1)

if (!isSoak) process.env.TMPDIR ??= memoryFolder()
const folder = mkdtempSync(join(tmpdir(), 'posthorn-report-'))
const reportFile = join(folder, 'report.json')
try {
  const code = await vitest([
    'run',
    ...(isSoak ? ['--mode', 'soak', ...args.slice(1)] : args),
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${reportFile}`,
  ])
  const summary = summarise(readReport(reportFile), code, reasons)
  for (const line of summary.lines) console.log(line)
  process.exitCode = summary.failed > 0 || (process.env.CI === 'true' && summary.omitted) ? 1 : 0
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function vitest(vitestArgs) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', ...vitestArgs], { stdio: 'inherit' })
    // Ctrl-C reaches the child too; wait for it, so that its servers are ended.
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
    process.on('SIGTERM', () => child.kill('SIGTERM'))
    child.on('close', (code) => resolve(code ?? 1))
  })
}

/** /dev/shm where it has 4 GB and may contain programs, otherwise the default folder. */
function memoryFolder() {
  const folder = '/dev/shm'
  try {
    const mounts = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
    const options = mounts.find(([, path]) => path === folder)?.[3]?.split(',') ?? ['noexec']
    const { bavail, bsize } = statfsSync(folder)
    if (!options.includes('noexec') && bavail * bsize >= 4 * 1024 ** 3) return folder
  } catch {
    // Not Linux.
  }
  return tmpdir()
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
