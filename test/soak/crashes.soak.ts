import { expect, it } from 'vitest'
import { describeEachDatabase } from '../kit/database.ts'
import { playCrashes } from '../scenarios/crashes.ts'

describeEachDatabase('a service that is killed while much mail arrives', (databases, engine) => {
  it('announces each of 1,000 mails to 20 mailboxes by exactly one event over five kills', {
    timeout: 900_000,
  }, async () => {
    const books = await playCrashes(await databases.place(), { mails: 1000, mailboxes: 20, kills: 5, paceMs: 20 })
    console.log(
      `${engine}: 1,000 mails, 20 mailboxes, 5 kills: ${books.events} events, ${books.repeats} repeats under the same ids`,
    )
    expect(books.events).toBe(1000)
  })
})
