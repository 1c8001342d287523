// The files of the API reference: our page, and Redoc without its one request to another host.
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'

const OUTPUT = 'dist/reference'
const REDOC = 'node_modules/redoc/bundles/redoc.standalone.js'
/** A logo that Redoc loads from its maker's host. An address that fails makes it omit the image. */
const FOREIGN_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg'

export async function writeReference() {
  await mkdir(OUTPUT, { recursive: true })
  await cp('src/ui/reference', OUTPUT, { recursive: true })
  const redoc = await readFile(REDOC, 'utf8')
  if (!redoc.includes(FOREIGN_LOGO))
    throw new Error(`${REDOC} no longer loads ${FOREIGN_LOGO}. Check what it loads now.`)
  await writeFile(`${OUTPUT}/redoc.js`, redoc.replaceAll(FOREIGN_LOGO, 'data:,'))
  await cp(`${REDOC}.LICENSE.txt`, `${OUTPUT}/redoc.js.LICENSE.txt`)
}
