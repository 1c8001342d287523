import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { plainMail } from '../../../test/servers/messages.ts'
import { startMicrosoft } from '../../../test/servers/microsoft.ts'
import { microsoftAt } from '../../../test/servers/microsoft-mailbox.ts'

const USER = 'ada@example.test'
const WEBHOOK = {
  ...{ kind: 'webhook' as const, clientState: 'proof' },
  ...{ url: 'https://posthorn.test/changes', lifecycleUrl: 'https://posthorn.test/lifecycle' },
}

async function subscribing() {
  const graph = await startMicrosoft()
  graph.addUser(USER)
  const { accessToken } = await graph.grant(USER)
  // Graph's handshake: return the token unchanged.
  const hook = createServer((req, res) => {
    const token = new URL(req.url ?? '', 'http://hook').searchParams.get('validationToken')
    res.writeHead(200, { 'content-type': 'text/plain' }).end(token ?? '')
  })
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
  graph.subscriptions.route('https://posthorn.test', `http://127.0.0.1:${(hook.address() as AddressInfo).port}`)
  const { mail, push } = microsoftAt(graph.url)
  onTestFinished(async () => {
    await mail.closeConnections()
    await graph.close()
    hook.closeAllConnections()
    await new Promise((resolve) => hook.close(resolve))
  })
  const access = {
    ...{ accountId: 'acc_1', email: USER, settings: {}, secrets: {} },
    accessToken: async () => accessToken,
  }
  return { graph, push, access }
}

it('begins, receives notifications with immutable ids, renews and ends a subscription', async () => {
  const { graph, push, access } = await subscribing()
  const begun = await push.begin(access, WEBHOOK)
  expect(begun.expiresAt - Date.now()).toBeGreaterThan(6 * 24 * 3_600_000)
  expect(begun.expiresAt - Date.now()).toBeLessThan(10_080 * 60_000)
  expect(graph.subscriptions.of(USER)).toMatchObject([
    {
      ...{ id: begun.id, changeType: 'created,updated,deleted', resource: 'me/messages', clientState: 'proof' },
      ...{ notificationUrl: WEBHOOK.url, lifecycleNotificationUrl: WEBHOOK.lifecycleUrl },
    },
  ])
  const id = await graph.deliver(USER, plainMail())
  await graph.subscriptions.flush()
  const sent = graph.subscriptions.sent.filter(({ kind }) => kind === 'change')
  expect(sent).toMatchObject([{ body: { value: [{ clientState: 'proof', resourceData: { id } }] } }])
  const renewed = await push.renew(access, begun.id, WEBHOOK)
  expect(renewed.id).toBe(begun.id)
  expect(renewed.expiresAt).toBeGreaterThanOrEqual(begun.expiresAt)
  await push.end(access, begun.id)
  expect(graph.subscriptions.of(USER)).toEqual([])
})

it('throws not_found when renewing a missing subscription, and ends it without error', async () => {
  const { graph, push, access } = await subscribing()
  const { id } = await push.begin(access, WEBHOOK)
  graph.subscriptions.expire(USER)
  await expect(push.renew(access, id, WEBHOOK)).rejects.toMatchObject({ kind: 'not_found' })
  await push.end(access, id)
})

it('throws rejected for an address that does not respond, and for a topic', async () => {
  const { push, access } = await subscribing()
  const elsewhere = { ...WEBHOOK, url: 'http://posthorn.test/plain' }
  await expect(push.begin(access, elsewhere)).rejects.toMatchObject({ kind: 'rejected' })
  const topic = { kind: 'topic' as const, topicName: 'projects/x/topics/y' }
  await expect(push.begin(access, topic)).rejects.toMatchObject({ kind: 'rejected' })
})
