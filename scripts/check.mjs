// `npm run check`: runs every static check, even after a failure, and prints a summary.
import { spawn } from 'node:child_process'

const CHECKS = [
  ['subjects of commits', ['node', 'scripts/check-commits.mjs']],
  // Checks again only what changed since the last time.
  ['types', ['node_modules/.bin/tsc', '--incremental', '--tsBuildInfoFile', 'node_modules/.cache/types.tsbuildinfo']],
  ['types of the widget', ['node_modules/.bin/tsc', '-p', 'src/ui/widget']],
  ['types of the SDK', ['node_modules/.bin/tsc', '-p', 'sdk']],
  ['types of the portal', ['node_modules/.bin/tsc', '-p', 'src/ui/admin']],
  ['format and lint', ['node_modules/.bin/biome', 'check', '--error-on-warnings', '.']],
  ['import rules', ['node', 'scripts/check-imports.mjs']],
  ['text rules', ['node', 'scripts/check-text.mjs']],
  ['unused exports', ['node_modules/.bin/knip', '--no-progress']],
  ['generated files', ['node', '--import', 'tsx', 'scripts/generate.mjs', '--check']],
]
/** Types and unused exports each use one core. */
const AT_ONCE = 2

process.chdir(new URL('..', import.meta.url).pathname)
const failed = []
const waiting = [...CHECKS]
await Promise.all(Array.from({ length: AT_ONCE }, worker))
console.log(failed.length === 0 ? 'check passed' : `check failed: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1

async function worker() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [name, [command, ...args]] = next
    const startedMs = performance.now()
    const { code, output } = await run(command, args)
    const took = `${((performance.now() - startedMs) / 1000).toFixed(1)} s`
    if (code === 0) console.log(`ok      ${name} (${took})`)
    else {
      failed.push(name)
      console.log(`FAILED  ${name} (${took})\n${output.trim().replaceAll(/^/gm, '        ')}`)
    }
  }
}

function run(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command === 'node' ? process.execPath : command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const keep = (chunk) => {
      output += chunk
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.on('error', (error) => resolve({ code: 1, output: String(error) }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}
