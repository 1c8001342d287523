import { expect, it } from 'vitest'
import { describePostgres } from '../kit/database.ts'
import { playReplicas } from '../scenarios/replicas.ts'

describePostgres('two instances on one database', (databases) => {
  it('announce each mail to 50 mailboxes once while A is killed and B is stopped past its heartbeat', {
    timeout: 1_200_000,
  }, async () => {
    const story = { mailboxes: 50, mails: 200, paceMs: 50, stoppedMs: 45_000 }
    const books = await playReplicas(await databases.place(), story)
    console.log(`two instances, 50 mailboxes: ${books.events} events, ${books.repeats} repeats under the same ids`)
    expect(books.events).toBe(5 * story.mails)
  })
})
