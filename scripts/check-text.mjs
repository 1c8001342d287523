// Text rules: banned words, patterns, file lengths and links. `node scripts/check-text.mjs` prints the faults and exits 1 when
// there are any. `--report` counts the banned words per folder; `--report=word` lists the uses of one.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bannedWords, bannedWordsTable } from './banned-words.mjs'

const MAX_LINES = 500
/** Characters in a line of a page. */
const MAX_LINE = 300
/** The pages to which that applies: all but the contract, which is quoted. */
const OWN_PAGE = /^(docs\/(?!specification\.md$)|README\.md$)/
const GENERATED = /^(src|sdk\/src)\/.*generated\//

/** Patterns that must not occur in the files that `where` matches. */
const RULES = [
  {
    where: /^src\/.*\.ts$/,
    // Browsers have no other clock.
    not: /^src\/(platform\/time\/clock\.ts$|ui\/(admin|widget)\/)|\.test\.ts$/,
    pattern: /\bDate\.now\(|\bnew Date\(\)/,
    says: 'the time comes from a Clock (platform/time/clock.ts)',
  },
  {
    where: /^src\/.*\.ts$/,
    // The samples of the API read it.
    not: /^src\/(config\/index\.ts$|demo\/|platform\/http\/openapi\/typescript\.ts$)|\.test\.ts$/,
    pattern: /\bprocess\.env\b/,
    says: 'the environment is read in src/config/index.ts only',
  },
  { where: /\.ts$/, pattern: /@ts-(ignore|nocheck)/, says: 'no switched-off types' },
  {
    where: /\.(test|soak)\.(ts|mjs)$/,
    pattern: /\b(it|test|describe)\.(skip|only|todo|fails)\b/,
    says: 'no skipped or focused tests',
  },
  {
    where: /\.(test|soak)\.ts$/,
    pattern: /\b(it|test)\.(skipIf|runIf)\b/,
    says: 'what one engine alone can show is declared by describePostgres (test/kit/database/database.ts)',
  },
  {
    where: /\.test\.ts$/,
    // As the second argument of a test, and after its function.
    pattern: /^ *timeout: \d{1,3}_000,$|\{ timeout: \d{1,3}_000 \}, (async )?\(|^ *\}, \d{1,3}_000\)$/,
    says: 'a deadline shorter than the default of vitest.config.ts judges the speed of the machine',
  },
  {
    where: /\.(tsx?|mjs)$/,
    not: /^scripts\/check-text/,
    pattern: /\.\.\.\{/,
    says: 'one member a line, instead of members packed as ...{ a, b }',
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

/** The name of a source file in a page, with or without folders. */
const FILE = /`([\w./-]+\.(?:tsx?|mjs|py))`/g
const LINK = /\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)/g

/**
 * @param {string[]} files every path of the project
 * @param {(file: string) => string} read its content
 * @returns {string[]} one line per fault: a decision's number taken twice, a link of a page that leads nowhere, a
 *   source file that does not exist, a long line
 */
export function pageFaults(files, read) {
  const faults = []
  const numbers = new Map()
  for (const file of files.filter((name) => name.startsWith('docs/decisions/'))) {
    const number = file.slice('docs/decisions/'.length).slice(0, 4)
    if (numbers.has(number)) faults.push(`${file}: ${numbers.get(number)} has this number too.`)
    numbers.set(number, file)
  }
  for (const file of files.filter((name) => name.endsWith('.md'))) {
    for (const [, target] of read(file).matchAll(LINK)) {
      const path = posix.join(posix.dirname(file), target).replace(/\/$/, '')
      if (!files.some((name) => name === path || name.startsWith(`${path}/`))) faults.push(`${file}: no ${path}.`)
    }
    if (!OWN_PAGE.test(file)) continue
    for (const [, name] of read(file).matchAll(FILE)) {
      if (!files.some((path) => path === name || path.endsWith(`/${name}`))) faults.push(`${file}: no file ${name}.`)
    }
    read(file)
      .split('\n')
      .forEach((line, index) => {
        if (line.length > MAX_LINE) faults.push(`${file}:${index + 1}: ${line.length} characters; break the line.`)
      })
  }
  return faults
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const root = resolve(dirname(process.argv[1]), '..')
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  const all = listed.split('\n').filter((file) => file !== '' && existsSync(join(root, file)))
  const read = (file) => readFileSync(join(root, file), 'utf8')
  const report = process.argv.slice(2).find((argument) => argument.startsWith('--report'))
  const uses = all.flatMap((file) => bannedWords(file, read(file)))
  const useLine = ({ word, found, file, line }) => `${file}:${line}: "${found}" (${word}); see docs/style.md.`
  if (report !== undefined) {
    const [, word] = report.split('=')
    const listed = word === undefined ? bannedWordsTable(uses) : uses.filter((use) => use.word === word).map(useLine)
    for (const line of listed) console.log(line)
  } else {
    const files = all.filter((file) => /\.(ts|tsx|mjs|css)$/.test(file) && !GENERATED.test(file))
    const faults = [
      ...files.flatMap((file) => textFaults(file, read(file))),
      ...pageFaults(all, read),
      ...uses.map(useLine),
    ]
    for (const fault of faults) console.log(fault)
    process.exitCode = faults.length > 0 ? 1 : 0
  }
}
