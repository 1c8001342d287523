import { expect, it, onTestFinished } from 'vitest'
import { describeOneDatabase } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { numberedMessage } from '../scenarios/mailboxes.ts'
import { connectAt, startOAuthStage } from '../scenarios/oauth.ts'
import { runPolling } from '../scenarios/oauth-calls.ts'

/** With those of the sign-in. Graph takes twenty parts in a batch, and Gmail's quota of older projects fifty. */
const MAX_CALLS = { gmail: 35, microsoft: 80 }

describeOneDatabase('API calls of the built service', 'sqlite', (databases) => {
  it('are one refresh and the calls for one message per account when 20 Gmail accounts are polled after their tokens expired', async () => {
    await runPolling(await databases.place(), { mailboxes: 20, replicas: 1 })
  })

  it.each(['gmail', 'microsoft'] as const)('are few for the first 1,000 messages of %s', async (name) => {
    const env = { SYNC_INITIAL_MESSAGES: '1000', GMAIL_QUOTA: 'before-2026-05' }
    const stage = await startOAuthStage(await databases.place(), { env })
    onTestFinished(() => stage.close())
    const { server } = stage.sites[name]
    const email = 'ada@example.com'
    server.addUser(email)
    for (let index = 0; index < 1000; index += 1) {
      await server.deliver(email, numberedMessage(`message ${index}`), { date: new Date(Date.now() - index * 60_000) })
    }
    const id = await connectAt(stage, name, email)
    await eventually(async () => {
      expect(await stage.api.call('GET', `/accounts/${id}`)).toMatchObject({ status: 'connected' })
    })
    // Calendars have a quota of their own.
    const mailCalls = server.calls.matching({ user: email }).filter(({ endpoint }) => !/calendar/i.test(endpoint))
    const total = mailCalls.length
    const list = await stage.api.call('GET', `/accounts/${id}/messages?limit=1`)
    expect(list).toMatchObject({ pagination: { total: 1000 } })
    expect([name, total <= MAX_CALLS[name], server.calls.counts({ user: email })]).toEqual([
      name,
      true,
      expect.anything(),
    ])
  })
})
