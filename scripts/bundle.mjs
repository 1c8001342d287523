import { build } from 'esbuild'
import { checkDynamicImports } from './dynamic-imports.mjs'
import { encodingTables } from './encoding-tables.mjs'
import { packagePatches } from './package-patches.mjs'

/** Packages that load binaries relative to their own folder. */
const NATIVE = ['libsql', 'msgpackr-extract', 'pg-native']

/**
 * Bundles programs with their packages, which halves the time they take to start: about a thousand files fewer to find and load.
 * Dynamic imports become files of their own, whose exports are checked. Without comments and white space, Node compiles half as much; names are kept.
 * @param {import('esbuild').BuildOptions} options entry points and output
 */
export async function bundle(options) {
  const result = await build({
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    splitting: true,
    minifyWhitespace: true,
    minifySyntax: true,
    external: NATIVE,
    plugins: [packagePatches, encodingTables],
    // jsonc-parser's UMD build requires its parts in a way that cannot be bundled.
    mainFields: ['module', 'main'],
    // Bundled CommonJS packages require Node's modules. Most files have none, and `createRequire` takes half a millisecond.
    banner: {
      js: "import { createRequire as createBundleRequire } from 'node:module'\nlet bundleRequire\nconst require = (name) => (bundleRequire ??= createBundleRequire(import.meta.url))(name)",
    },
    // One letter beyond ASCII, as in a comment, doubles the memory that Node holds a file's source in.
    legalComments: 'external',
    sourcemap: true,
    logLevel: 'warning',
    metafile: true,
    ...options,
  })
  await checkDynamicImports(result.metafile)
  return result
}
