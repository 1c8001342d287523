// `npm run generate` writes the generated files. With --check it only prints the outdated ones and exits 1 if there are any.
// Needs a TypeScript loader: `node --import tsx scripts/generate.mjs`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { apiObjects } from './generators/api-objects.mjs'
import { errorsPage } from './generators/errors.mjs'
import { eventsPage } from './generators/events.mjs'
import { openApiFile } from './generators/openapi.mjs'
import { sdkResourcesFile, sdkTypesFile } from './generators/sdk.mjs'
import { envExample, settingsPage } from './generators/settings.mjs'
import { updateZoneTable } from './zone-table.mjs'

const FILES = {
  '.env.example': envExample,
  'docs/settings.md': settingsPage,
  'docs/errors.md': errorsPage,
  'docs/events.md': eventsPage,
  'openapi.json': openApiFile,
  'src/ui/generated/api-objects.ts': apiObjects,
  'sdk/src/generated/schema.ts': sdkTypesFile,
  'sdk/src/generated/resources.ts': sdkResourcesFile,
}

process.chdir(new URL('..', import.meta.url).pathname)
const onlyCheck = process.argv.includes('--check')
// A machine with an older or newer database than the shipped one is no reason to fail.
const zones = onlyCheck ? undefined : updateZoneTable()
if (zones !== undefined) console.log(`wrote the zones of ${zones}`)
for (const [file, make] of Object.entries(FILES)) {
  const text = await make()
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
  if (onlyCheck) {
    console.log(`${file} is outdated. Run "npm run generate".`)
    process.exitCode = 1
  } else {
    writeFileSync(file, text)
    console.log(`wrote ${file}`)
  }
}
