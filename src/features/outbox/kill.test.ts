import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { databases, describePostgres } from '../../../test/kit/database.ts'
import { runSendingCrashes } from '../../../test/scenarios/sending-crashes.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'

/** For each kill: two of each kind of mailbox. */
const MESSAGES = 6

describe.skipIf(!dovecotAvailable())('a process killed while it sends', () => {
  let dovecot: Dovecot
  beforeAll(async () => {
    dovecot = await startDovecot()
  })
  afterAll(() => dovecot.stop())

  const open = databases('sqlite')
  it('sends no message twice and loses none, on the file store', async () => {
    const place = await open.place()
    const { messages } = await runSendingCrashes(await open(place), place, dovecot, { kills: 2, replicas: 1 })
    expect(messages).toBe(2 * MESSAGES)
  })

  describePostgres('with two replicas', (shared) => {
    it('sends no message twice and loses none', async () => {
      const place = await shared.place()
      const { messages } = await runSendingCrashes(await shared(place), place, dovecot, { kills: 2, replicas: 2 })
      expect(messages).toBe(2 * MESSAGES)
    })
  })
})
