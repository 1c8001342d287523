import { expect, it } from 'vitest'
import { databases, describePostgres } from '../kit/database.ts'
import { runSendingCrashes, type SendingCounts } from '../scenarios/sending-crashes.ts'
import { startDovecot } from '../servers/dovecot.ts'

const KILLS = 200

function report(store: string, { messages, sent, uncertain }: SendingCounts): void {
  console.log(`${store}: ${messages} messages, ${KILLS} kills: ${sent} sent, ${uncertain} uncertain, none twice`)
  expect(sent + uncertain).toBe(messages)
}

const open = databases('sqlite')
it('sends no message twice over 200 kills on the file store', { timeout: 1_800_000 }, async () => {
  const dovecot = await startDovecot()
  try {
    const place = await open.place()
    report('sqlite', await runSendingCrashes(await open(place), place, dovecot, { kills: KILLS, replicas: 1 }))
  } finally {
    await dovecot.stop()
  }
})

describePostgres('on PostgreSQL', (shared) => {
  it('sends no message twice over 200 kills of two replicas', { timeout: 1_800_000 }, async () => {
    const dovecot = await startDovecot()
    try {
      const place = await shared.place()
      report('postgres', await runSendingCrashes(await shared(place), place, dovecot, { kills: KILLS, replicas: 2 }))
    } finally {
      await dovecot.stop()
    }
  })
})
