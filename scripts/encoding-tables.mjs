import { copyFile, mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'

/**
 * The tables of East Asian encodings, half a megabyte as JavaScript, stay files of their own beside the bundle. iconv-lite requires one
 * when the first text in such an encoding is decoded.
 * @type {import('esbuild').Plugin}
 */
export const encodingTables = {
  name: 'encoding-tables',
  setup(plugin) {
    const { outdir } = plugin.initialOptions
    const copied = new Set()
    plugin.onResolve({ filter: /^\.\/tables\/[\w-]+\.json$/ }, async ({ path, resolveDir }) => {
      if (!resolveDir.endsWith('/iconv-lite/encodings')) return undefined
      copied.add(join(resolveDir, path))
      return { path: path.replace('/tables/', '/encodings/'), external: true }
    })
    plugin.onEnd(async () => {
      const folder = join(outdir, 'encodings')
      if (copied.size > 0) await mkdir(folder, { recursive: true })
      await Promise.all([...copied].map((file) => copyFile(file, join(folder, basename(file)))))
    })
  },
}
