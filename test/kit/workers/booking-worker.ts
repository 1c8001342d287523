/**
 * A process that serves the API, syncs calendars and does the tasks of bookings until it is killed. Arguments: data folder, database URL or '', settings
 * in JSON. Prints its URL. The key is `test-key`.
 */
import { httpServer } from '../../../src/app/routes.ts'
import { openDatabase } from '../database/open-database.ts'
import { compose } from '../service/composition.ts'

const [dataDir = '', databaseUrl = '', settings = '{}'] = process.argv.slice(2)
const db = openDatabase({ dataDir, databaseUrl })
const { context, infrastructure, features } = compose(db, {
  settings: JSON.parse(settings),
  features: {
    ownership: { roundMs: 100, deadAfterMs: 400, soleProcess: databaseUrl === '' },
    calendars: { pollMs: 500, retry: { baseMs: 20, capMs: 200 } },
    scheduler: { leaseMs: 1000, sweepMs: 200, retry: { baseMs: 50, capMs: 500 }, askAgainMs: 500 },
  },
})
const server = httpServer(context, infrastructure, features, () => 'ready')
features.calendarRuns.start()
await features.ownership.start()
await features.scheduler.tasks.start()
process.stdout.write(`${await server.listen({ port: 0, host: '127.0.0.1' })}\n`)
