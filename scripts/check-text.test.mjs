import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { pageFaults, textFaults } from './check-text.mjs'

it.each([
  ['src/mail/a/b.ts', 'const x = Date.now()'],
  ['src/mail/a/b.ts', 'const x = new Date()'],
  ['src/platform/a.ts', 'const home = process.env.HOME'],
  ['test/a.ts', '// @ts-ignore'],
  ['src/platform/a.test.ts', `it.${'skip'}('x')`],
  ['src/platform/a.test.ts', `it.${'skipIf'}(engine === 'sqlite')`],
  ['src/platform/a.test.ts', "it('works', { timeout: 60_000 }, async () => {"],
  ['src/platform/a.test.ts', '}, 60_000)'],
  ['src/platform/a.ts', `// TO${'DO'}: later`],
  ['src/platform/a.ts', `const x = { ..${'.{'} a, b } }`],
  ['src/ui/a.tsx', `<Step {..${'.{'} a, b }} />`],
  ['src/platform/a.ts', 'x\n'.repeat(501)],
])('a fault in %s: %s', (file, text) => {
  expect(textFaults(file, text)).toHaveLength(1)
})

it.each([
  ['src/platform/time/clock.ts', 'const x = Date.now()'],
  ['src/platform/time.ts', 'const x = new Date(ms)'],
  ['src/config/index.ts', 'return process.env'],
  ['test/kit/a.ts', 'return process.env'],
  ['src/cli/cli.test.ts', 'const path = process.env.PATH'],
  ['src/platform/a.test.ts', 'post(url, { timeout: 60_000 })'],
  ['src/platform/a.ts', 'x\n'.repeat(500)],
])('no fault in %s: %s', (file, text) => {
  expect(textFaults(file, text)).toEqual([])
})

it('a number of two decisions and a link that leads nowhere are faults; links to files, folders and the web are not', () => {
  const pages = {
    'README.md': '[a](docs/decisions) [b](docs/gone.md) [c](https://example.com/x.md) [d](docs/decisions/0001-a.md#b)',
    'docs/decisions/0001-a.md': '[up](../../README.md)',
    'docs/decisions/0001-b.md': '',
  }
  expect(pageFaults(Object.keys(pages), (file) => pages[file])).toEqual([
    'docs/decisions/0001-b.md: docs/decisions/0001-a.md has this number too.',
    'README.md: no docs/gone.md.',
  ])
})

it('a source file that a page names exists', () => {
  const pages = { 'docs/a.md': '`b.ts`, `src/a/b.ts`, `c.ts`, `b/b.ts`', 'src/a/b.ts': '' }
  expect(pageFaults(Object.keys(pages), (file) => pages[file])).toEqual([
    'docs/a.md: no file c.ts.',
    'docs/a.md: no file b/b.ts.',
  ])
})

it('a line over 300 characters is a fault of a page, but not of the contract', () => {
  const pages = { 'docs/a.md': `a\n${'x'.repeat(301)}\n${'x'.repeat(300)}`, 'docs/specification.md': 'x'.repeat(301) }
  expect(pageFaults(Object.keys(pages), (file) => pages[file])).toEqual([
    'docs/a.md:2: 301 characters; break the line.',
  ])
})

it('fails on a banned word and names its line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'check-text-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const script of ['check-text.mjs', 'banned-words.mjs']) {
    cpSync(join(import.meta.dirname, script), join(folder, 'scripts', script))
  }
  mkdirSync(join(folder, 'src'))
  spawnSync('git', ['init', '-q'], { cwd: folder })
  const check = () => spawnSync(process.execPath, [join(folder, 'scripts/check-text.mjs')], { encoding: 'utf8' })
  writeFileSync(join(folder, 'src/a.ts'), '// The caller asks.\n')
  expect(check()).toMatchObject({ status: 0, stdout: '' })
  writeFileSync(join(folder, 'src/a.ts'), '// The caller asks.\n// Serves whoever asks.\n')
  expect(check()).toMatchObject({ status: 1, stdout: 'src/a.ts:2: "whoever" (whoever); see docs/style.md.\n' })
})
