import { expect, it } from 'vitest'
import { textFaults } from './check-text.mjs'

it.each([
  ['src/features/a/b.ts', 'const x = Date.now()'],
  ['src/features/a/b.ts', 'const x = new Date()'],
  ['src/infra/a.ts', 'const home = process.env.HOME'],
  ['test/a.ts', '// @ts-ignore'],
  ['src/lib/a.test.ts', `it.${'skip'}('x')`],
  ['src/infra/a.test.ts', `it.${'skipIf'}(engine === 'sqlite')`],
  ['src/lib/a.ts', `// TO${'DO'}: later`],
  ['src/lib/a.ts', 'x\n'.repeat(501)],
])('a fault in %s: %s', (file, text) => {
  expect(textFaults(file, text)).toHaveLength(1)
})

it.each([
  ['src/lib/clock.ts', 'const x = Date.now()'],
  ['src/lib/time.ts', 'const x = new Date(ms)'],
  ['src/config.ts', 'return process.env'],
  ['test/kit/a.ts', 'return process.env'],
  ['src/cli/cli.test.ts', 'const path = process.env.PATH'],
  ['src/lib/a.ts', 'x\n'.repeat(500)],
])('no fault in %s: %s', (file, text) => {
  expect(textFaults(file, text)).toEqual([])
})
