// The admin portal: bundles src/ui/admin into dist/admin. Every file has a name with the hash of its content, which browsers may keep
// for a year; `manifest.json` names the ones that a page loads first. Bundling takes seconds, so it is skipped while nothing has changed.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { writeServed } from './served.mjs'

const SOURCES = 'src/ui/admin'
const ENTRY = 'main.tsx'
const STAMP = '.build'
/** Other files that determine the result. */
const BUILD_FILES = ['src/ui/generated/api-objects.ts', 'scripts/admin.mjs', 'scripts/served.mjs', 'package-lock.json']
/** Packages bundled into the scripts. Their licences ask for a copy of the text. */
const PACKAGES = [
  '@mantine/core',
  '@mantine/hooks',
  '@mantine/notifications',
  '@mantine/spotlight',
  '@mantine/store',
  '@tanstack/react-query',
  'cally',
  'lucide-react',
  'react',
  'react-dom',
  'uqr',
]
/** The first browsers with light-dark() and nested style rules. */
const TARGET = ['chrome123', 'firefox120', 'safari17.5']

/** @param {string} folder where the files are written */
export async function writeAdmin(folder) {
  const stamp = sourcesHash()
  const stampFile = join(folder, STAMP)
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const { files, ...loaded } = await bundled()
  for (const [name, content] of files) await writeServed(join(folder, name), content)
  await writeFile(join(folder, 'manifest.json'), JSON.stringify({ ...loaded, files: [...files.keys()] }))
  await writeFile(join(folder, 'LICENSES.txt'), await licences())
  await writeFile(stampFile, stamp)
}

/** The files by name, and the names of those that the first page needs. */
async function bundled() {
  const { build } = await import('vite')
  const { output } = await build({
    configFile: false,
    root: SOURCES,
    mode: 'production',
    // Relative to each file, so that the portal works at every PUBLIC_URL.
    base: './',
    logLevel: 'warn',
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      write: false,
      target: TARGET,
      assetsDir: '',
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: {
        input: resolve(SOURCES, ENTRY),
        // Packages mark what runs in browsers for frameworks that also render on the server.
        onwarn: (warning, print) => warning.code === 'MODULE_LEVEL_DIRECTIVE' || print(warning),
      },
    },
  })
  const entry = output.find((file) => file.type === 'chunk' && file.isEntry)
  const files = new Map(output.map((file) => [file.fileName, file.type === 'chunk' ? file.code : file.source]))
  return {
    files,
    script: entry.fileName,
    styles: [...entry.viteMetadata.importedCss],
    preloads: entry.imports,
  }
}

async function licences() {
  const texts = await Promise.all(
    PACKAGES.map(async (name) => `${name}\n\n${await readFile(`node_modules/${name}/LICENSE`, 'utf8')}`),
  )
  return texts.join('\n\n')
}

function sourcesHash() {
  const sources = readdirSync(SOURCES, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
  const hash = createHash('sha256')
  for (const file of [...sources.sort(), ...BUILD_FILES]) {
    hash.update(`${file}\0`).update(readFileSync(file)).update('\0')
  }
  return hash.digest('hex')
}
