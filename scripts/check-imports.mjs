// The import rules of docs/design.md, over src/: only downward, no cycles, a module only through its index, sideways only
// types and read fragments. `node scripts/check-imports.mjs` prints the faults and exits 1 when there are any.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The composition root: it alone knows everything below. */
const ROOT = 6
/** Layers by folder or file of src; the first match counts. */
const LAYERS = [
  ['app/', ROOT],
  ['config/', 5],
  ['features/accounts/', 3],
  ['features/labels/', 3.1],
  ['features/messages/', 3.2],
  ['features/', 4],
  // The contract, with its error class, is below the providers that implement it.
  ['providers/contract/', 1.5],
  // What several providers are built on.
  ['providers/mime/', 1.8],
  ['providers/oauth/', 1.8],
  ['providers/rest/', 1.8],
  ['providers/', 2],
  ['events/', 2],
  ['migrations/', 2],
  ['infra/', 1],
  // Pages as functions of their content. Like infra, they know no business rules.
  ['ui/', 1],
  ['lib/', 0],
]
/** The entry points: main.ts, cli, demo. */
const TOP = 7
/** Folders whose direct subfolders are modules; `lib`, `app`, `cli` and `demo` have no entrance. */
const MODULE_PARENTS = ['infra', 'features', 'providers', 'ui']
const MODULES = ['config', 'events', 'migrations']
/** Within infra the others are built on these: the store, the log, the network, the connections to Redis. */
const INFRA_BASE = ['infra/db', 'infra/log', 'infra/net', 'infra/redis']
/** Files of query fragments that other modules of the same layer may join into their queries. */
const READ_FRAGMENT_FILE = /(^|\/)read(-[a-z-]+)?\.ts$/

/**
 * @param {string} root the folder that holds src
 * @returns {string[]} one line per fault
 */
export function checkImports(root) {
  const src = join(root, 'src')
  const files = sourceFiles(src)
  const imports = new Map(files.map((file) => [file, importsOf(src, file)]))
  const faults = []
  for (const [file, targets] of imports) {
    for (const target of targets) faults.push(...faultsOf(src, file, target))
  }
  return [...faults, ...cycles(imports)]
}

/** Of `ui` only the hosted pages run on the server; the rest is for browsers. */
function sourceFiles(src) {
  return readdirSync(src, { recursive: true })
    .map((name) => name.replaceAll('\\', '/'))
    .filter(
      (name) =>
        name.endsWith('.ts') &&
        !name.endsWith('.test.ts') &&
        !(name.startsWith('ui/') && !name.startsWith('ui/hosted/')),
    )
    .sort()
}

const STATEMENT = /^(?:import|export)\s+(type\s+)?([^'"`;]*?)\s*from\s+'([^']+)'/gm
const BARE = /^import\s+'([^']+)'/gm
const DYNAMIC = /\bimport\(\s*'([^']+)'/g

/** @returns {{ path: string, typeOnly: boolean, names: string[] }[]} imports of files of the project */
function importsOf(src, file) {
  const text = readFileSync(join(src, file), 'utf8')
  const found = []
  for (const [, type, clause, path] of text.matchAll(STATEMENT)) {
    const names =
      /\{([^}]*)\}/s
        .exec(clause)?.[1]
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean) ?? []
    const whole = clause.replace(/\{[^}]*\}/s, '').replaceAll(/[\s,]/g, '')
    const values = names.filter((name) => !name.startsWith('type ')).map((name) => name.split(/\s+as\s+/)[0])
    const typeOnly = type !== undefined || (whole === '' && values.length === 0 && names.length > 0)
    found.push({ path, typeOnly, names: whole === '' ? values : ['*'] })
  }
  for (const pattern of [BARE, DYNAMIC]) {
    for (const [, path] of text.matchAll(pattern)) found.push({ path, typeOnly: false, names: ['*'] })
  }
  return found
    .filter(({ path }) => path.startsWith('.') && path.endsWith('.ts'))
    .map(({ path, ...rest }) => ({
      ...rest,
      path: relative(src, resolve(src, dirname(file), path)).replaceAll('\\', '/'),
    }))
    .filter(({ path }) => !path.startsWith('..'))
}

function faultsOf(src, file, { path, typeOnly, names }) {
  const [from, to] = [layerOf(file), layerOf(path)]
  const [here, there] = [moduleOf(file), moduleOf(path)]
  if (here !== undefined && here === there) return []
  const faults = []
  if (to > from) faults.push(`${file}: imports ${path}, which is on a higher layer (${to} above ${from}).`)
  if (there !== undefined && !isEntrance(path, there)) {
    faults.push(`${file}: imports ${path}; import it through ${there}/index.ts.`)
  }
  const sideways = to === from && from < ROOT && from !== 0
  if (sideways && !typeOnly && !INFRA_BASE.includes(there)) {
    const others = names.filter((name) => !isReadFragment(src, path, name))
    if (others.length > 0) {
      faults.push(
        `${file}: takes ${others.join(', ')} from ${path}; sideways only types and read fragments may be imported.`,
      )
    }
  }
  if (sideways && !typeOnly && INFRA_BASE.includes(there) && INFRA_BASE.includes(here)) {
    faults.push(
      `${file}: takes ${names.join(', ')} from ${path}; ${here} and ${there} are both a base of infra and may share only types.`,
    )
  }
  return faults
}

function layerOf(file) {
  return LAYERS.find(([folder]) => file.startsWith(folder))?.[1] ?? TOP
}

function moduleOf(file) {
  const parts = file.split('/')
  if (parts.length > 2 && MODULE_PARENTS.includes(parts[0])) return `${parts[0]}/${parts[1]}`
  if (parts.length > 1 && (MODULES.includes(parts[0]) || MODULE_PARENTS.includes(parts[0]))) return parts[0]
  return undefined
}

function isEntrance(path, module) {
  return path === `${module}/index.ts`
}

/** True when the module's index takes this name from a file of read fragments. */
function isReadFragment(src, index, name) {
  if (!existsSync(join(src, index))) return false
  const source = importsOf(src, index).find(({ names }) => names.includes(name))
  return source !== undefined && READ_FRAGMENT_FILE.test(source.path)
}

/** Cycles of value imports; types are erased and may point at each other. */
function cycles(imports) {
  const state = new Map()
  const path = []
  const found = []
  const visit = (file) => {
    if (state.get(file) === 'done' || !imports.has(file)) return
    if (state.get(file) === 'open') {
      found.push(`cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`)
      return
    }
    state.set(file, 'open')
    path.push(file)
    for (const target of imports.get(file)) if (!target.typeOnly) visit(target.path)
    path.pop()
    state.set(file, 'done')
  }
  for (const file of imports.keys()) visit(file)
  return found
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const faults = checkImports(resolve(dirname(process.argv[1]), '..'))
  for (const fault of faults) console.log(fault)
  process.exitCode = faults.length > 0 ? 1 : 0
}
