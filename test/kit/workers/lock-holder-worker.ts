/** A process that locks a data folder, opens its database as the service does, says so and stays. Argument: the folder. */
import { join } from 'node:path'
import { lockDataFolder, openSqlite, setState } from '../../../src/platform/db/index.ts'

const [folder = ''] = process.argv.slice(2)
const file = join(folder, 'posthorn.db')
const lock = await lockDataFolder(folder, { database: file, onWait() {} })
const beforeWrite = () => lock.verify()
const db = openSqlite({ file, synchronous: 'NORMAL', onSlowStatement: () => {}, beforeWrite })
lock.confirm()
process.stdout.write('locked\n')
let writes = 0
setInterval(() => {
  writes += 1
  const write = db.transaction((tx) => setState(tx, 'writes', String(writes)))
  write.catch((error: unknown) => void process.stdout.write(`rejected: ${String(error)}\n`))
}, 50)
