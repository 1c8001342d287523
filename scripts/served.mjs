import { writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/**
 * Writes a file that the service serves, and its compressed forms beside it. Images are compressed as they are. Brotli's highest quality would
 * take 20 times as long to save 8 %.
 */
export async function writeServed(path, content) {
  await writeFile(path, content)
  if (path.endsWith('.png')) return
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(content, brotli),
    promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
  ])
  await writeFile(`${path}.br`, br)
  await writeFile(`${path}.gz`, gz)
}
