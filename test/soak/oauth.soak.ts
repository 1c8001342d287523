import { it } from 'vitest'
import { describePostgres } from '../kit/database.ts'
import { SHARED_KEYS } from '../kit/process.ts'
import { playPolling } from '../scenarios/oauth-calls.ts'

describePostgres('two instances on one database', (databases) => {
  it('refresh the token of each of 100 gmail accounts once when all end at the same time', {
    timeout: 600_000,
  }, async () => {
    await playPolling({ ...(await databases.place()), env: SHARED_KEYS }, { mailboxes: 100, replicas: 2 })
  })
})
