// `npm run docs -- FOLDER` writes the documentation as static files, for any web server. The default folder is dist/site.
import { resolve } from 'node:path'
import { writeDocs } from './docs/site.mjs'

const folder = resolve(process.argv[2] ?? new URL('../dist/site', import.meta.url).pathname)
process.chdir(new URL('..', import.meta.url).pathname)
await writeDocs(folder, { isStatic: true })
console.log(`wrote the documentation to ${folder}`)
