// Bundles the existing entry points into dist/: the service, the demo and the benchmarks.
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { build } from 'esbuild'

const ENTRIES = {
  posthorn: 'src/cli/posthorn.ts',
  demo: 'src/demo/demo.ts',
  'demo-emulator': 'src/demo/provider-emulator.ts',
  bench: 'bench/bench.ts',
}

process.chdir(new URL('..', import.meta.url).pathname)
const startedMs = performance.now()
const present = Object.entries(ENTRIES).filter(([, file]) => existsSync(file))
await rm('dist', { recursive: true, force: true })
await build({
  entryPoints: Object.fromEntries(present),
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  packages: 'external',
  sourcemap: true,
  logLevel: 'warning',
}).catch(() => process.exit(1)) // esbuild has printed the error.
if (!process.argv.includes('--quiet')) {
  console.log(
    `built ${present.map(([name]) => `dist/${name}.js`).join(', ')} in ${Math.round(performance.now() - startedMs)} ms`,
  )
}
