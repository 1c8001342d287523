import { build } from 'esbuild'

/** Imports a TypeScript module of the sources, because the build runs without a loader for TypeScript. */
export async function importSource(file) {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
    logLevel: 'warning',
  })
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`)
}
