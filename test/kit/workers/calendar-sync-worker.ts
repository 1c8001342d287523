/**
 * A process that syncs accounts and their calendars until it is killed. Arguments: data folder, database URL or '', settings in JSON.
 * Prints `started`.
 */

import { openDatabase } from '../database/open-database.ts'
import { compose } from '../service/composition.ts'

const [dataDir = '', databaseUrl = '', settings = '{}'] = process.argv.slice(2)
const db = openDatabase({ dataDir, databaseUrl })
const { features } = compose(db, {
  settings: JSON.parse(settings),
  features: {
    ownership: { roundMs: 100, deadAfterMs: 400, settleMs: 0, soleProcess: databaseUrl === '' },
    calendars: { pollMs: 20, retry: { baseMs: 20, capMs: 200 } },
  },
})
features.calendarRuns.start()
await features.ownership.start()
process.stdout.write('started\n')
