/** A process that locks a data folder, says so and stays. Argument: the folder. */
import { lockDataFolder } from '../../src/infra/db/index.ts'

const [folder = ''] = process.argv.slice(2)
await lockDataFolder(folder, { onWait() {} })
process.stdout.write('locked\n')
setInterval(() => {}, 1000)
