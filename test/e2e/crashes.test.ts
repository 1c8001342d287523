import { describe, expect, it } from 'vitest'
import { describeEachDatabase } from '../kit/database.ts'
import { playCrashes } from '../scenarios/crashes.ts'
import { dovecotAvailable } from '../servers/dovecot.ts'

describe.skipIf(!dovecotAvailable())('on a real mail server', () => {
  describeEachDatabase('a service that is killed while mail arrives', (databases) => {
    it('announces each of 100 mails by exactly one event over two kills', { timeout: 240_000 }, async () => {
      const books = await playCrashes(await databases.place(), { mails: 100, mailboxes: 5, kills: 2, paceMs: 20 })
      expect(books.events).toBe(100)
    })
  })
})
