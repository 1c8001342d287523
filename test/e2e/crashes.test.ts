import { describe, expect, it } from 'vitest'
import { describeEachDatabase } from '../kit/database/database.ts'
import { runCrashes } from '../scenarios/crashes.ts'
import { dovecotAvailable } from '../servers/dovecot.ts'

describe.skipIf(!dovecotAvailable())('on a real mail server', () => {
  describeEachDatabase('a service that is killed while messages arrive', (databases) => {
    it('announces each of 100 messages exactly once over two kills', async () => {
      const counts = await runCrashes(await databases.place(), { messages: 100, mailboxes: 5, kills: 2, paceMs: 20 })
      expect(counts.events).toBe(100)
    })
  })
})
