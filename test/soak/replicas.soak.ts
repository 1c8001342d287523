import { expect, it } from 'vitest'
import { describePostgres } from '../kit/database.ts'
import { runReplicas } from '../scenarios/replicas.ts'

describePostgres('two instances on one database', (databases) => {
  it('announce each message in 50 mailboxes once while A is killed and B is stopped past its heartbeat', {
    timeout: 1_200_000,
  }, async () => {
    const scenario = { mailboxes: 50, messages: 200, paceMs: 50, stoppedMs: 45_000 }
    const counts = await runReplicas(await databases.place(), scenario)
    console.log(
      `two instances, 50 mailboxes: ${counts.events} events, ${counts.duplicates} duplicates under the same ids`,
    )
    expect(counts.events).toBe(5 * scenario.messages)
  })
})
