// Checks the import rules of docs/design.md in src/: downward only, no cycles, modules only through their index, within a
// layer only types and read fragments, the SDK in commands only by import(), and no index that exports more names than its limit. `node scripts/check-imports.mjs` prints violations and exits 1 if there are any.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The composition root. Only it may import from every layer. */
const ROOT = 6
/** Layers by path prefix. The first match applies. Platform has two: see `layerOf`. */
const LAYERS = [
  ['app/', ROOT],
  ['config/', 5],
  ['accounts/auth/', 4],
  ['accounts/cluster/', 3.05],
  ['accounts/collections/', 3.06],
  ['accounts/', 3],
  ['mail/labels/', 3.1],
  ['mail/messages/', 3.2],
  ['mail/outgoing/', 3.3],
  ['mail/', 4],
  ['calendars/', 4],
  ['contacts/', 4],
  ['booking/', 4],
  ['operations/', 4],
  ['events/webhooks/', 4],
  ['events/deduplication/', 4],
  ['events/feed/', 4],
  ['events/', 2],
  // Below the providers that implement the contract and throw its errors.
  ['providers/contract/', 1.5],
  ['providers/conformance/', 1.6],
  ['providers/shared/pubsub/', 1.9],
  ['providers/shared/', 1.8],
  ['providers/', 2],
  ['migrations/', 2],
  // The record of a feature: types only.
  ['feature.ts', 2],
  // Pages are functions of their content. Like platform, they contain no business rules.
  ['ui/', 1],
]
/** Modules of platform have an `index.ts` and access the outside world. Its other files are pure, and below them. */
const [PURE, OUTSIDE] = [0, 1]
/** The entry points: main.ts, cli, demo. */
const TOP = 7
/** Folders whose subfolders are modules. `app`, `cli` and `demo` have no index. */
const MODULE_PARENTS = ['providers/shared', 'providers', 'platform', 'mail', 'operations', 'ui']
/** Folders that are one module each, except the subfolders named here, which are modules of their own. */
const MODULES = {
  accounts: ['auth', 'cluster', 'collections'],
  booking: [],
  calendars: [],
  contacts: [],
  config: [],
  events: ['webhooks', 'deduplication', 'feed'],
  migrations: [],
}
/** Files that the command line and pages may import themselves: generated types, without code of their own. */
const GENERATED = 'ui/generated/'
/** Modules that the other modules of platform and ui may import. */
const BASE = ['platform/db', 'platform/log', 'platform/net', 'platform/redis', 'ui/hosted']
/** Files of query fragments that other modules of the same layer may use in their queries. */
const READ_FRAGMENT_FILE = /(^|\/)read(-[a-z-]+)?\.ts$/

/** How many names an index may export. */
const MAX_EXPORTS = 70
/** The same of large modules, whose index would otherwise grow with each file. */
const MAX_EXPORTS_OF = { 'mail/messages': 45, accounts: 40 }

/**
 * @param {string} root folder that contains src
 * @returns {string[]} one line per violation
 */
export function checkImports(root) {
  const src = join(root, 'src')
  const files = sourceFiles(src)
  const imports = new Map(files.map((file) => [file, findImports(src, file)]))
  const violations = []
  for (const [file, targets] of imports) {
    for (const target of targets) violations.push(...findViolations(src, file, target))
  }
  for (const file of files) violations.push(...exportViolations(src, file), ...sdkViolations(src, file))
  return [...violations, ...cycles(imports)]
}

const EXPORT_LIST = /^export\s+(?:type\s+)?\{([^}]*)\}/gms
const EXPORT_DECLARATION = /^export\s+(?:abstract\s+|async\s+)*(?:function|const|class|interface|type|enum)\s+\w/gm

function exportViolations(src, file) {
  const module = moduleOf(src, file)
  if (module === undefined || !isIndex(file, module)) return []
  const text = readFileSync(join(src, file), 'utf8')
  const listed = [...text.matchAll(EXPORT_LIST)].flatMap(([, names]) => names.split(',').filter((name) => name.trim()))
  const count = listed.length + [...text.matchAll(EXPORT_DECLARATION)].length
  const limit = MAX_EXPORTS_OF[module] ?? MAX_EXPORTS
  if (count <= limit) return []
  return [`${file}: exports ${count} names, at most ${limit}. Offer a few objects and functions in place of many.`]
}

/** Loading the SDK would delay every command, also those that do not call a service. */
function sdkViolations(src, file) {
  if (!file.startsWith('cli/')) return []
  const text = readFileSync(join(src, file), 'utf8')
  const isLoaded = [...text.matchAll(STATEMENT)].some(
    ([, type, , path]) => path === '@posthorn/sdk' && type === undefined,
  )
  return isLoaded
    ? [`${file}: imports @posthorn/sdk; import its types, and its values by import() in the command.`]
    : []
}

/** Folders of `ui` whose files run in browsers. */
const BROWSER = ['ui/admin/', 'ui/docs/', 'ui/widget/']

/** Source files of the server. */
function sourceFiles(src) {
  return readdirSync(src, { recursive: true })
    .map((name) => name.replaceAll('\\', '/'))
    .filter(
      (name) =>
        name.endsWith('.ts') && !name.endsWith('.test.ts') && !BROWSER.some((folder) => name.startsWith(folder)),
    )
    .sort()
}

const STATEMENT = /^(?:import|export)\s+(type\s+)?([^'"`;]*?)\s*from\s+'([^']+)'/gm
const BARE = /^import\s+'([^']+)'/gm
const DYNAMIC = /\bimport\(\s*'([^']+)'/g

/** @returns {{ path: string, typeOnly: boolean, names: string[] }[]} imports of project files */
function findImports(src, file) {
  const text = readFileSync(join(src, file), 'utf8')
  const found = []
  for (const [, type, clause, path] of text.matchAll(STATEMENT)) {
    const names =
      /\{([^}]*)\}/s
        .exec(clause)?.[1]
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean) ?? []
    const withoutNames = clause.replace(/\{[^}]*\}/s, '').replaceAll(/[\s,]/g, '')
    const values = names.filter((name) => !name.startsWith('type ')).map((name) => name.split(/\s+as\s+/)[0])
    const typeOnly = type !== undefined || (withoutNames === '' && values.length === 0 && names.length > 0)
    found.push({ path, typeOnly, names: withoutNames === '' ? values : ['*'] })
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

function findViolations(src, file, { path, typeOnly, names }) {
  const [from, to] = [layerOf(src, file), layerOf(src, path)]
  const [here, there] = [moduleOf(src, file), moduleOf(src, path)]
  if (here !== undefined && here === there) return []
  const violations = []
  if (to > from) violations.push(`${file}: imports ${path}, which is on a higher layer (${to} above ${from}).`)
  if (there !== undefined && !isIndex(path, there)) {
    violations.push(`${file}: imports ${path}; import it through ${there}/index.ts.`)
  }
  const sideways = to === from && from < ROOT && from !== PURE
  if (sideways && !typeOnly && !BASE.includes(there)) {
    const others = names.filter((name) => !isReadFragment(src, path, name))
    if (others.length > 0) {
      violations.push(
        `${file}: imports ${others.join(', ')} from ${path}; within a layer only types and read fragments may be imported.`,
      )
    }
  }
  if (sideways && !typeOnly && BASE.includes(there) && BASE.includes(here)) {
    violations.push(
      `${file}: imports ${names.join(', ')} from ${path}; ${here} and ${there} are both base modules and may share only types.`,
    )
  }
  return violations
}

function layerOf(src, file) {
  if (file.startsWith('platform/')) return moduleOf(src, file) === undefined ? PURE : OUTSIDE
  return LAYERS.find(([folder]) => file.startsWith(folder))?.[1] ?? TOP
}

/** The folder whose index others import; undefined for files that may be imported themselves. */
function moduleOf(src, file) {
  if (file.startsWith(GENERATED)) return undefined
  const [domain, folder] = file.split('/')
  if (MODULES[domain] !== undefined) return MODULES[domain].includes(folder) ? `${domain}/${folder}` : domain
  const parent = MODULE_PARENTS.find((name) => file.startsWith(`${name}/`))
  if (parent === undefined) return undefined
  const rest = file.slice(parent.length + 1)
  if (!rest.includes('/')) return undefined
  const module = `${parent}/${rest.split('/')[0]}`
  return parent === 'platform' && !existsSync(join(src, module, 'index.ts')) ? undefined : module
}

function isIndex(path, module) {
  return path === `${module}/index.ts`
}

/** True when the index re-exports this name from a file of read fragments. */
function isReadFragment(src, index, name) {
  if (!existsSync(join(src, index))) return false
  const source = findImports(src, index).find(({ names }) => names.includes(name))
  return source !== undefined && READ_FRAGMENT_FILE.test(source.path)
}

/** Cycles of value imports. Types are erased, so cycles of types are allowed. */
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
  const violations = checkImports(resolve(dirname(process.argv[1]), '..'))
  for (const violation of violations) console.log(violation)
  process.exitCode = violations.length > 0 ? 1 : 0
}
