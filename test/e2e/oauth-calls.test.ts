import { expect, it, onTestFinished } from 'vitest'
import { describeEachDatabase } from '../kit/database.ts'
import { eventually } from '../kit/eventually.ts'
import { numberedMail } from '../scenarios/mailboxes.ts'
import { connectAt, startOAuthStage } from '../scenarios/oauth.ts'
import { playPolling } from '../scenarios/oauth-calls.ts'

const MOST_CALLS = 30

describeEachDatabase('what the built service asks of the providers', (databases) => {
  it('is one refresh for each of 20 gmail accounts polled at once after their tokens ended, and the calls that their mail takes', async () => {
    await playPolling(await databases.place(), { mailboxes: 20, replicas: 1 })
  })

  it.each(['gmail', 'microsoft'] as const)('is at most 30 calls for the first 1,000 messages of %s', async (name) => {
    const stage = await startOAuthStage(await databases.place(), { env: { SYNC_INITIAL_MESSAGES: '1000' } })
    onTestFinished(() => stage.close())
    const { server } = stage.sites[name]
    const email = 'ada@example.com'
    server.addUser(email)
    for (let index = 0; index < 1000; index += 1) {
      await server.deliver(email, numberedMail(`mail ${index}`), { date: new Date(Date.now() - index * 60_000) })
    }
    const id = await connectAt(stage, name, email)
    await eventually(async () => {
      expect(await stage.api.call('GET', `/accounts/${id}`)).toMatchObject({ status: 'connected' })
    })
    const total = server.calls.total({ user: email })
    const list = await stage.api.call('GET', `/accounts/${id}/messages?limit=1`)
    expect(list).toMatchObject({ pagination: { total: 1000 } })
    // Those of signing in are among them.
    expect([name, total <= MOST_CALLS, server.calls.counts({ user: email })]).toEqual([name, true, expect.anything()])
  })
})
