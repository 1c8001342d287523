import { parseKeyRing, sealer } from '../../../src/platform/crypto/seal.ts'
import { openSqlite } from '../../../src/platform/db/index.ts'
import { openPostgres } from '../../../src/platform/db/postgres/postgres.ts'
import { systemClock } from '../../../src/platform/time/clock.ts'
import { idempotencyServer } from '../http/idempotency-server.ts'

/**
 * `idempotencyServer` in a process that kills itself during its first request: at `commit` before the commit, at `response`
 * after it and before the response. Arguments: moment, file or URL of the database, key ring. Prints its URL.
 */
const [moment = '', database = '', ring = ''] = process.argv.slice(2)
const die = () => void process.kill(process.pid, 'SIGKILL')

const db = database.startsWith('postgres')
  ? openPostgres({ url: database, maxConnections: 2, onError: console.error })
  : openSqlite({ file: database, synchronous: 'NORMAL', onSlowStatement: () => {} })
const app = idempotencyServer({
  db,
  clock: systemClock,
  sealer: sealer(parseKeyRing(ring)),
  hooks: {
    prepare: async () => {},
    async commit(tx) {
      if (moment === 'commit') die()
      if (moment === 'response') tx.afterCommit(die)
    },
  },
})
process.stdout.write(`${await app.listen({ port: 0, host: '127.0.0.1' })}\n`)
