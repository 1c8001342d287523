// The scripts that pages load: the booking widget with a file for each language, the script of the frame, and the embed script.
// Each has a name with the hash of its content, which browsers may keep for a year. The entry points also have a name that stays the
// same, for pages of others. The service reads both from `manifest.json`.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { build, transform } from 'esbuild'
import { checkDynamicImports } from './dynamic-imports.mjs'
import { writeServed } from './served.mjs'

const SOURCES = 'src/ui/widget'
/** Modules, which share the files that they load later. */
const MODULES = { 'posthorn-scheduler': `${SOURCES}/element.tsx`, frame: `${SOURCES}/frame.ts` }
/** Needs the element that loads it, so it is no module. */
const SCRIPTS = { embed: `${SOURCES}/embed.ts` }

/** Style sheets become minified texts. */
const styles = {
  name: 'styles',
  setup(plugin) {
    plugin.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, 'utf8'), { loader: 'css', minify: true, target: TARGET })
      return { contents: code.trim(), loader: 'text' }
    })
  },
}
/** Packages bundled into the scripts. Their licences ask for a copy of the text. */
const PACKAGES = ['preact', 'cally']
/** Cally ends with its calendars of ranges and several dates, and its menus, which are not used: a fifth of it. */
const LAST_USED = 'customElements.define("calendar-date", '
const cally = {
  name: 'cally',
  setup(plugin) {
    plugin.onLoad({ filter: /\/cally\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8')
      const end = source.indexOf('\n', source.indexOf(LAST_USED))
      if (!source.includes(LAST_USED))
        throw new Error(`${path} no longer contains '${LAST_USED}'. Check what it has now.`)
      return { contents: source.slice(0, end) }
    })
  },
}
/** The first browsers with light-dark() which the style sheets use. */
const TARGET = ['chrome123', 'firefox120', 'safari17.5']

/** @param {string} folder where the files are written */
export async function writeWidget(folder) {
  const options = {
    bundle: true,
    minify: true,
    target: TARGET,
    write: false,
    metafile: true,
    outdir: folder,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [styles, cally],
  }
  const builds = await Promise.all([
    build({ ...options, entryPoints: MODULES, format: 'esm', splitting: true }),
    build({ ...options, entryPoints: SCRIPTS, format: 'iife' }),
  ])
  for (const { metafile } of builds) await checkDynamicImports(metafile)
  await mkdir(folder, { recursive: true })
  const entries = {}
  const preloads = {}
  const files = []
  for (const { outputFiles, metafile } of builds) {
    for (const { path, text } of outputFiles) {
      const name = basename(path)
      files.push(name)
      await writeServed(join(folder, name), text)
      const output = Object.entries(metafile.outputs).find(([file]) => basename(file) === name)?.[1]
      const entry = Object.entries({ ...MODULES, ...SCRIPTS }).find(([, file]) => file === output?.entryPoint)?.[0]
      if (entry === undefined) continue
      entries[`${entry}.js`] = name
      const parts = output.imports.filter(({ kind }) => kind === 'import-statement')
      preloads[`${entry}.js`] = parts.map(({ path: part }) => basename(part))
      await writeServed(join(folder, `${entry}.js`), text)
    }
  }
  const licences = await Promise.all(PACKAGES.map((name) => readFile(`node_modules/${name}/LICENSE`, 'utf8')))
  await writeFile(
    join(folder, 'LICENSES.txt'),
    PACKAGES.map((name, index) => `${name}\n\n${licences[index]}`).join('\n\n'),
  )
  await writeFile(join(folder, 'manifest.json'), JSON.stringify({ entries, preloads, files }))
}
