/** A process that creates the schema and stops in the middle, in its open transaction. Arguments: data folder, URL of the database. */

import { migrations } from '../../../src/migrations/index.ts'
import { migrateUp } from '../../../src/platform/db/index.ts'
import { openDatabase } from '../database/open-database.ts'

const [dataDir = '', databaseUrl = ''] = process.argv.slice(2)

const half = migrations.slice(0, 4)
const endless = {
  name: '9000-endless',
  up(): Promise<void> {
    process.stdout.write('in the middle\n')
    return new Promise(() => setInterval(() => {}, 60_000))
  },
}
await migrateUp(openDatabase({ dataDir, databaseUrl }), [...half, endless, ...migrations.slice(4)], () => {})
