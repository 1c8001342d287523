// Bundles the existing entry points into dist/: the service with the demo, and the benchmarks.
import { existsSync, readdirSync } from 'node:fs'
import { cp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeAdmin } from './admin.mjs'
import { writeStamp } from './build-stamp.mjs'
import { bundle } from './bundle.mjs'
import { writeDocs } from './docs/site.mjs'
import { licencesOf } from './licences.mjs'
import { writeWidget } from './widget.mjs'

const SERVICE = { posthorn: 'src/cli/posthorn.ts' }
/**
 * The entry files of the worker threads; `src/platform/threads/worker-file.ts` finds them. Each is bundled by itself, because a file that
 * a thread shared with the service would have what only the service needs.
 */
const WORKERS = {
  'checkpoint-worker': 'src/platform/db/sqlite/checkpoint-worker.ts',
  'imap-worker': 'src/providers/imap/thread/imap-worker.ts',
  'sender-worker': 'src/events/webhooks/sending/thread/sender-worker.ts',
  'caldav-worker': 'src/providers/caldav/object-worker.ts',
  'search-worker': 'src/mail/search/search-worker.ts',
}
/** The script and the style sheet of the demo's page, served as they are. */
const DEMO_ASSETS = 'src/demo/application/assets'
/** These need packages that only development installs. */
const DEVELOPMENT = { 'demo-emulator': 'src/demo/provider-emulator.ts', bench: 'bench/bench.ts' }

process.chdir(new URL('..', import.meta.url).pathname)
const startedMs = performance.now()
// The portal is kept while its own sources are unchanged.
const previous = existsSync('dist') ? readdirSync('dist').filter((name) => name !== 'admin') : []
await Promise.all(previous.map((name) => rm(join('dist', name), { recursive: true, force: true })))
const present = (entries) => Object.fromEntries(Object.entries(entries).filter(([, file]) => existsSync(file)))
const workers = Object.entries(present(WORKERS)).map(([name, file]) => ({ [name]: file }))
const [shipped] = await Promise.all([
  Promise.all([present(SERVICE), ...workers].map((entryPoints) => bundle({ entryPoints, outdir: 'dist' }))),
  bundle({ entryPoints: present(DEVELOPMENT), outdir: 'dist', packages: 'external', splitting: false }),
  writeWidget('dist/embed'),
]).catch((error) => {
  // esbuild has printed its own errors.
  if (error.errors === undefined) console.error(error.message)
  process.exit(1)
})
await writeAdmin('dist/admin')
await writeDocs('dist/docs')
if (existsSync(DEMO_ASSETS)) await cp(DEMO_ASSETS, 'dist/demo-application', { recursive: true })
await writeFile('dist/LICENSES.txt', licencesOf(shipped.map(({ metafile }) => metafile)))
writeStamp()
if (!process.argv.includes('--quiet')) {
  const names = Object.keys(present({ ...SERVICE, ...WORKERS, ...DEVELOPMENT }))
  console.log(
    `built ${names.map((name) => `dist/${name}.js`).join(', ')} in ${Math.round(performance.now() - startedMs)} ms`,
  )
}
