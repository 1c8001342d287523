// The files of the API reference, plain and compressed: the OpenAPI document, our page, and Redoc with two changes.
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const OUTPUT = 'dist/reference'
const PAGE = 'src/ui/reference'
const PAGE_FILES = ['index.html', 'reference.js', 'reference.css']
const DOCUMENT = 'openapi.json'
const REDOC = 'node_modules/redoc/bundles/redoc.standalone.js'
/** What is changed in Redoc. The build fails when one of them is no longer there, so that an update is checked. */
const CHANGES = [
  // A logo that Redoc loads from its maker's host. An address that fails makes it omit the image.
  ['https://cdn.redoc.ly/redoc/logo-mini.svg', 'data:,'],
  // Patterns of strings, which are too dark in the dark colour scheme and have no setting.
  ['color: #0e7c86;', 'color: light-dark(#0e7c86, #6fc7d1);'],
]

export async function writeReference() {
  await mkdir(OUTPUT, { recursive: true })
  let redoc = await readFile(REDOC, 'utf8')
  for (const [from, to] of CHANGES) {
    if (!redoc.includes(from)) throw new Error(`${REDOC} no longer contains "${from}". Check what it has now.`)
    redoc = redoc.replaceAll(from, to)
  }
  // Relative to the document, so that it is right at every PUBLIC_URL.
  const document = { ...JSON.parse(await readFile(DOCUMENT, 'utf8')), servers: [{ url: '.' }] }
  await writeServed('redoc.js', redoc)
  await writeServed(DOCUMENT, `${JSON.stringify(document, null, 2)}\n`)
  for (const file of PAGE_FILES) await writeServed(file, await readFile(`${PAGE}/${file}`))
  await cp(`${REDOC}.LICENSE.txt`, `${OUTPUT}/redoc.js.LICENSE.txt`)
}

/** Writes the file, and its compressed forms beside it. Brotli's highest quality would take 20 times as long to save 8 %. */
async function writeServed(name, content) {
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(content, brotli),
    promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
  ])
  await writeFile(`${OUTPUT}/${name}`, content)
  await writeFile(`${OUTPUT}/${name}.br`, br)
  await writeFile(`${OUTPUT}/${name}.gz`, gz)
}
