import { expect, it } from 'vitest'
import { describeEachDatabase } from '../kit/database/database.ts'
import { runCrashes } from '../scenarios/crashes.ts'

describeEachDatabase('a service that is killed while messages arrive', (databases, engine) => {
  it('announces each of 1,000 messages in 20 mailboxes exactly once over five kills', {
    timeout: 900_000,
  }, async () => {
    const counts = await runCrashes(await databases.place(), { messages: 1000, mailboxes: 20, kills: 5, paceMs: 20 })
    console.log(
      `${engine}: 1,000 messages, 20 mailboxes, 5 kills: ${counts.events} events, ${counts.duplicates} duplicates under the same ids`,
    )
    expect(counts.events).toBe(1000)
  })
})
