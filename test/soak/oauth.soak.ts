import { it } from 'vitest'
import { describePostgres } from '../kit/database/database.ts'
import { SHARED_KEYS } from '../kit/service/process.ts'
import { runPolling } from '../scenarios/oauth-calls.ts'

describePostgres('two instances on one database', (databases) => {
  it('refresh the token of each of 100 Gmail accounts once when all tokens expire together', {
    timeout: 600_000,
  }, async () => {
    await runPolling({ ...(await databases.place()), env: SHARED_KEYS }, { mailboxes: 100, replicas: 2 })
  })
})
