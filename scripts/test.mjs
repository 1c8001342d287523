// `npm test` and `npm run test:soak`: provides what the tests need, builds, runs them, and ends with what was not run, why,
// and the plain line "N passed, N failed". CI=true turns anything that was not run into a failure.
// Arguments: `soak` for the long tests; anything else goes to vitest, for example a folder.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
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
  const summary = summarise(reportOf(reportFile), code, reasons)
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

function reportOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
