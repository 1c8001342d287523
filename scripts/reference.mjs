// The files of the API reference, plain and compressed: the OpenAPI document, our page, and Redoc with two changes.
import { cp, mkdir, readFile } from 'node:fs/promises'
import { writeServed } from './served.mjs'

const OUTPUT = 'dist/reference'
const PAGE = 'src/ui/reference'
const PAGE_FILES = ['index.html', 'reference.js', 'reference.css']
const DOCUMENT = 'openapi.json'
const REDOC = 'node_modules/redoc/bundles/redoc.standalone.js'
/** Changes made to Redoc. The build fails when a text to replace is missing, so that an update is checked. */
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
  await writeServed(`${OUTPUT}/redoc.js`, redoc)
  await writeServed(`${OUTPUT}/${DOCUMENT}`, `${JSON.stringify(document, null, 2)}\n`)
  for (const file of PAGE_FILES) await writeServed(`${OUTPUT}/${file}`, await readFile(`${PAGE}/${file}`))
  await cp(`${REDOC}.LICENSE.txt`, `${OUTPUT}/redoc.js.LICENSE.txt`)
}
