// House rules that a search can see. `node scripts/check-text.mjs` prints the faults and exits 1 when there are any.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const MAX_LINES = 500

/** What must not stand in a line of the files that `where` matches. */
const RULES = [
  {
    where: /^src\/.*\.ts$/,
    not: /^src\/lib\/clock\.ts$|\.test\.ts$/,
    pattern: /\bDate\.now\(|\bnew Date\(\)/,
    says: 'the time comes from a Clock (lib/clock.ts)',
  },
  {
    where: /^src\/.*\.ts$/,
    not: /^src\/(config\.ts$|demo\/)|\.test\.ts$/,
    pattern: /\bprocess\.env\b/,
    says: 'the environment is read in src/config.ts only',
  },
  { where: /\.ts$/, pattern: /@ts-(ignore|nocheck)/, says: 'no switched-off types' },
  {
    where: /\.(test|soak)\.(ts|mjs)$/,
    pattern: /\b(it|test|describe)\.(skip|only|todo|fails)\b/,
    says: 'no skipped or lonely tests',
  },
  {
    where: /\.(test|soak)\.ts$/,
    pattern: /\b(it|test)\.(skipIf|runIf)\b/,
    says: 'what one engine alone can show is declared by describePostgres (test/kit/database.ts)',
  },
  {
    where: /\.(ts|mjs)$/,
    not: /^scripts\/check-text/,
    pattern: /\b(TODO|FIXME|XXX|HACK)\b/,
    says: 'nothing is left for later',
  },
]

/**
 * @param {string} file path in the project
 * @param {string} text its content
 * @returns {string[]} one line per fault
 */
export function textFaults(file, text) {
  const lines = text.split('\n')
  const faults = lines.length - 1 > MAX_LINES ? [`${file}: ${lines.length - 1} lines, over ${MAX_LINES}; cut it.`] : []
  for (const { where, not, pattern, says } of RULES) {
    if (!where.test(file) || not?.test(file)) continue
    lines.forEach((line, index) => {
      if (pattern.test(line)) faults.push(`${file}:${index + 1}: ${says}.`)
    })
  }
  return faults
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const root = resolve(dirname(process.argv[1]), '..')
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  const files = listed.split('\n').filter((file) => /\.(ts|tsx|mjs|css)$/.test(file) && existsSync(join(root, file)))
  const faults = files.flatMap((file) => textFaults(file, readFileSync(join(root, file), 'utf8')))
  for (const fault of faults) console.log(fault)
  process.exitCode = faults.length > 0 ? 1 : 0
}
