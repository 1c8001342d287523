import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { missingNames } from './dynamic-imports.mjs'

/** `cjs` is a package that exports `Parser` as CommonJS; `esm.ts` is a module that exports `run` and a default. */
const PACKAGES = {
  'node_modules/cjs/package.json': '{ "name": "cjs", "main": "index.js" }',
  'node_modules/cjs/index.js': 'exports.Parser = class {}',
  'node_modules/left/package.json': '{ "name": "left", "main": "index.cjs" }',
  'node_modules/left/index.cjs': 'exports.left = 1',
  'package.json': '{ "type": "module" }',
  'esm.ts': 'export const run = () => 1; export default class {}',
}

/** Each reads `Parser` of the package, which its bundle does not have. */
const MISSING = {
  'destructured.ts': `const { Parser } = await import('cjs'); console.log(Parser)`,
  'renamed.ts': `const { Parser: Renamed, default: rest } = await import('cjs'); console.log(Renamed, rest)`,
  'default-value.ts': `const { Parser = 1 } = await import('cjs'); console.log(Parser)`,
  'several-lines.ts': `const {\n  default: all,\n  Parser,\n} = await import(\n  'cjs'\n)\nconsole.log(all, Parser)`,
  'member.ts': `console.log((await import('cjs')).Parser)`,
  'new-member.ts': `console.log(new (await import('cjs')).Parser())`,
  'optional-member.ts': `console.log((await import('cjs'))?.Parser)`,
  'computed-member.ts': `console.log((await import('cjs'))['Parser'])`,
  'cast-member.ts': `console.log(((await import('cjs')) as { Parser: unknown }).Parser)`,
  'variable.ts': `const cjs = await import('cjs'); console.log(cjs.Parser)`,
  'destructured-variable.ts': `const cjs = await import('cjs'); const { Parser } = cjs; console.log(Parser)`,
  'cast-variable.ts': `const cjs = await import('cjs'); console.log((cjs as any)!.Parser)`,
  'assigned.ts': `let Parser: unknown; ({ Parser } = await import('cjs')); console.log(Parser)`,
  'assigned-variable.ts': `export async function f() { let m; m ??= await import('cjs'); return m.Parser }`,
  'kept-promise.ts': `const loading = import('cjs'); export const f = async () => (await loading).Parser`,
  'then.ts': `import('cjs').then(({ Parser }) => console.log(Parser))`,
  'then-module.ts': `import('cjs').then((cjs) => console.log(cjs.Parser))`,
  'then-function.ts': `import('cjs').then(function (cjs) { console.log(new cjs.Parser()) })`,
  'catch-then.ts': `import('cjs').catch((e) => { throw e }).then(({ Parser }) => console.log(Parser))`,
  'all.ts': `const [{ run }, { Parser }] = await Promise.all([import('./esm.ts'), import('cjs')]); console.log(run, Parser)`,
  'all-then.ts': `Promise.all([import('cjs'), 1]).then(([cjs]) => console.log(cjs.Parser))`,
  'all-variable.ts': `const all = await Promise.all([import('cjs')]); console.log(all[0].Parser)`,
  'loader.ts': `const load = () => import('cjs'); export const f = async () => (await load()).Parser`,
  'loader-function.ts': `async function load() { return await import('cjs') }\nexport const f = async () => { const { Parser } = await load(); return Parser }`,
  'template.ts': 'console.log((await import(`cjs`)).Parser)',
  'choice.ts': `const { Parser } = await import(process.argv.length > 9 ? 'cjs' : 'left'); console.log(Parser)`,
  'shadow.ts': `const m = await import('cjs'); export const f = (m: { other: 1 }) => m.other; console.log(m.Parser)`,
  'element.tsx': `const cjs = await import('cjs'); export const view = <cjs.Parser size={1} />`,
  'script.js': `import('cjs').then(({ Parser }) => console.log(Parser))`,
}

/** Each gives the module of the CommonJS package to code that could read any name. */
const PASSED_ON = {
  'argument.ts': `console.log(await import('cjs'))`,
  'exported.ts': `export const cjs = await import('cjs')`,
  'exported-loader.ts': `export const load = () => import('cjs')`,
  'member-loader.ts': `export const parts = { load: () => import('cjs') }`,
  'rest.ts': `const { default: first, ...rest } = await import('cjs'); console.log(first, rest)`,
  'any-name.ts': `console.log((await import('cjs'))[process.argv[2] ?? ''])`,
}

const CORRECT = {
  'default.ts': `const { default: cjs } = await import('cjs'); console.log(new cjs.Parser())`,
  'default-member.ts': `console.log(new (await import('cjs')).default.Parser())`,
  'static.ts': `import { Parser } from 'cjs'; console.log(Parser)`,
  'effect.ts': `await import('cjs'); void import('cjs'); import('./esm.ts')`,
  'module.ts': `const { run, default: Class } = await import('./esm.ts'); console.log(run, Class)`,
  'passed-module.ts': `export const load = () => import('./esm.ts')`,
  'builtin.ts': `const { join } = await import('node:path'); console.log(join)`,
  'type.ts': `export type Parser = typeof import('cjs'); export type Other = import('cjs').Other`,
}

const OTHER = {
  'own-module.ts': `const { run, walk } = await import('./esm.ts'); console.log(run, walk)`,
  'builtin-name.ts': `const { joint } = await import('node:path'); console.log(joint)`,
  'external-name.ts': `const { build, red } = await import('esbuild'); console.log(build, red)`,
}

const SOURCES = { ...MISSING, ...PASSED_ON, ...CORRECT, ...OTHER }

describe('the check of names that sources read from import()', () => {
  let folder
  let problems
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'posthorn-imports-'))
    for (const [file, text] of Object.entries({ ...PACKAGES, ...SOURCES })) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text)
    }
    const { metafile } = await build({
      absWorkingDir: folder,
      entryPoints: Object.keys(SOURCES),
      outdir: 'dist',
      bundle: true,
      platform: 'node',
      format: 'esm',
      splitting: true,
      metafile: true,
      jsx: 'automatic',
      external: ['react/jsx-runtime', 'esbuild'],
      logLevel: 'error',
    })
    problems = await missingNames(metafile, folder)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const of = (file) => problems.filter((problem) => problem.startsWith(`${file}:`))

  it.each(Object.keys(MISSING))('finds a name that the bundle of a CommonJS package does not export: %s', (file) => {
    expect(of(file).filter((problem) => problem.includes("import('cjs')"))).toEqual([
      expect.stringMatching(
        /^[\w.-]+:[1-4]: the bundle of import\('cjs'\) does not export "Parser"\. The package is CommonJS: write "const \{ default: name \} = await import\('cjs'\)" /,
      ),
    ])
  })

  it.each(Object.keys(PASSED_ON))('accepts no module of a CommonJS package that it cannot follow: %s', (file) => {
    expect(of(file)).toEqual([expect.stringContaining("passes on the module of import('cjs')")])
  })

  it.each(Object.keys(CORRECT))('accepts names that exist: %s', (file) => {
    expect(of(file)).toEqual([])
  })

  it('finds names that modules of the project and of Node do not have', () => {
    expect(of('own-module.ts')).toEqual([
      `own-module.ts:1: the bundle of import('./esm.ts') does not export "walk". Take a name that exists: default, run.`,
    ])
    expect(of('builtin-name.ts')).toEqual([expect.stringContaining('does not export "joint"')])
  })

  it('asks Node for the names of a package that is not bundled', () => {
    expect(of('external-name.ts')).toEqual([expect.stringMatching(/does not export "red"\. .*\bbuild\b/)])
  })

  it('agrees with what Node loads', async () => {
    const { f } = await import(pathToFileURL(join(folder, 'dist/loader.js')).href)
    expect(await f()).toBe(undefined)
  })
})
