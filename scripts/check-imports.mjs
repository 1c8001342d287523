// The import rules of docs/design.md, over src/: only downward, no cycles, a room only through its index, sideways only
// types and read fragments. `node scripts/check-imports.mjs` prints the faults and exits 1 when there are any.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Floors by folder or file of src, the first match; what stands in src itself (app, main, config …) is on top. */
const FLOORS = [
  ['features/accounts/', 3],
  ['features/labels/', 3.1],
  ['features/messages/', 3.2],
  ['features/', 4],
  // The contract, with its error, lies below the providers that keep it.
  ['providers/provider.ts', 1.5],
  ['providers/mailbox-session.ts', 1.5],
  ['providers/login.ts', 1.5],
  ['providers/push.ts', 1.5],
  // What several providers are built on.
  ['providers/mime/', 1.8],
  ['providers/oauth/', 1.8],
  ['providers/rest/', 1.8],
  ['providers/', 2],
  ['events/', 2],
  ['migrations/', 2],
  ['infra/', 1],
  // Pages as functions of what they show: like infra, they know no business.
  ['ui/', 1],
  ['lib/', 0],
]
const TOP = 5
/** Folders whose direct subfolders are rooms; `events` and `migrations` are rooms themselves, `lib` is open. */
const ROOM_PARENTS = ['infra', 'features', 'providers', 'ui']
const ROOMS = ['events', 'migrations']
/** The contract of the providers stands beside their folders. */
const OPEN_FILES = ['provider', 'mailbox-session', 'login', 'push', 'registry'].map((name) => `providers/${name}.ts`)
/** Within infra these carry the others: the store, the log, the network, the connections to Redis. */
const INFRA_GROUND = ['infra/db', 'infra/log', 'infra/net', 'infra/redis']
/** What a room lets others of its floor join into their queries stands in a file of this name. */
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
  const [from, to] = [floorOf(file), floorOf(path)]
  const [here, there] = [roomOf(file), roomOf(path)]
  if (here !== undefined && here === there) return []
  const faults = []
  if (to > from) faults.push(`${file}: imports ${path}, which is on a higher floor (${to} above ${from}).`)
  if (there !== undefined && !isEntrance(path, there)) {
    faults.push(`${file}: imports ${path}; a room is entered through ${there}/index.ts only.`)
  }
  const sideways = to === from && from !== TOP && from !== 0
  if (sideways && !typeOnly && !INFRA_GROUND.includes(there)) {
    const others = names.filter((name) => !isReadFragment(src, path, name))
    if (others.length > 0) {
      faults.push(
        `${file}: takes ${others.join(', ')} from ${path}; sideways only types and read fragments may be imported.`,
      )
    }
  }
  if (sideways && !typeOnly && INFRA_GROUND.includes(there) && INFRA_GROUND.includes(here)) {
    faults.push(
      `${file}: takes ${names.join(', ')} from ${path}; ${here} and ${there} both carry the rest of infra and only share types.`,
    )
  }
  return faults
}

function floorOf(file) {
  return FLOORS.find(([folder]) => file.startsWith(folder))?.[1] ?? TOP
}

function roomOf(file) {
  const parts = file.split('/')
  if (parts.length > 2 && ROOM_PARENTS.includes(parts[0])) return `${parts[0]}/${parts[1]}`
  if (parts.length > 1 && (ROOMS.includes(parts[0]) || ROOM_PARENTS.includes(parts[0]))) return parts[0]
  return undefined
}

function isEntrance(path, room) {
  return path === `${room}/index.ts` || OPEN_FILES.includes(path)
}

/** True when the room's index takes this name from a file of read fragments. */
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
