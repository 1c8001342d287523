import { expect, it } from 'vitest'
import { type Databases, databases, describePostgres } from '../kit/database/database.ts'
import { describeRedis } from '../kit/database/redis.ts'
import { runSendingCrashes, type SendingCrashes } from '../scenarios/sending-crashes.ts'
import { startDovecot } from '../servers/dovecot.ts'

const KILLS = 200
const timeout = 1_800_000

async function run(title: string, open: Databases, scenario: Omit<SendingCrashes, 'kills'>): Promise<void> {
  const dovecot = await startDovecot()
  try {
    const place = await open.place()
    const counts = await runSendingCrashes(await open(place), place, dovecot, { kills: KILLS, ...scenario })
    const { messages, sent, uncertain, delivered, inReply } = counts
    console.log(
      `${title}: ${messages} messages, ${KILLS} kills, ${inReply} before a reply: ${sent} sent, ${uncertain} uncertain (${delivered} of them delivered), none twice`,
    )
    expect(sent + uncertain).toBe(messages)
  } finally {
    await dovecot.stop()
  }
}

const file = databases('sqlite')
it('sends no message twice over 200 kills on the file store', { timeout }, () => run('sqlite', file, { replicas: 1 }))

describePostgres('on PostgreSQL', (shared) => {
  it('sends no message twice over 200 kills of two replicas', { timeout }, () =>
    run('postgres', shared, { replicas: 2 }),
  )

  describeRedis('with Redis', (redis) => {
    it('sends no message twice over 200 kills of two replicas', { timeout }, () =>
      run('postgres and redis', shared, { replicas: 2, redisUrl: redis.server.url }),
    )
  })
})
