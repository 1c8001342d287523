import { expect, it, onTestFinished } from 'vitest'
import { describePostgres } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { SHARED_KEYS, startServiceProcess } from '../kit/service/process.ts'
import { call, callRaw } from '../scenarios/mcp-calls.ts'
import { connectHttp, openMcpStage } from '../scenarios/mcp-stage.ts'

describePostgres('MCP on two instances', (open) => {
  it('continues on one what began on the other, and sends once what both are asked to send', async () => {
    const place = await open.place()
    const stage = await openMcpStage({ ...place, env: SHARED_KEYS })
    onTestFinished(() => stage.close())
    const other = await startServiceProcess({ ...place, env: { ...stage.google.settings, ...SHARED_KEYS } })
    onTestFinished(() => other.stop().then(() => undefined))
    const { key } = stage.service
    const clients = await Promise.all([connectHttp(stage.service.url, key), connectHttp(other.url, key, 'legacy')])
    onTestFinished(() => Promise.all(clients.map((client) => client.close())).then(() => undefined))
    const [first, second] = clients
    expect(await second.listTools()).toMatchObject({ tools: (await first.listTools()).tools })

    const fields = { accountId: stage.accountId, to: ['bo@friends.test'], subject: 'Shared', body: 'Hello.' }
    const { draftId, confirmationToken } = await call(first, 'send_message', fields)
    const results = await Promise.all(
      [second, first, second].map((client) => callRaw(client, 'send_message', { draftId, confirmationToken })),
    )
    expect(results.some(({ isError }) => isError !== true)).toBe(true)
    await eventually(() => stage.countSent('Shared') > 0)
    const again = await call(second, 'send_message', { draftId, confirmationToken })
    expect(again.outboxId).toMatch(/^obx_/)
    expect((await stage.api.get('/outbox')).json.messages).toHaveLength(1)
  })
})
