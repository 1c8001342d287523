import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { plainMail } from '../../../test/servers/messages.ts'
import { MICROSOFT_SCOPES, OUTLOOK_CALENDAR_SCOPES, startMicrosoft } from '../../../test/servers/microsoft.ts'
import { microsoftAt } from '../../../test/servers/microsoft-mailbox.ts'
import type { SharedLimit } from '../shared/rest/index.ts'

const USER = 'ada@example.test'
const WEBHOOK = {
  kind: 'webhook' as const,
  clientState: 'proof',
  url: 'https://posthorn.test/changes',
  lifecycleUrl: 'https://posthorn.test/lifecycle',
}

async function subscribing(scopes = MICROSOFT_SCOPES, subscriptions?: SharedLimit) {
  const graph = await startMicrosoft()
  graph.addUser(USER)
  const { accessToken } = await graph.grant(USER, scopes)
  // Graph's handshake: return the token unchanged.
  const hook = createServer((req, res) => {
    const token = new URL(req.url ?? '', 'http://hook').searchParams.get('validationToken')
    res.writeHead(200, { 'content-type': 'text/plain' }).end(token ?? '')
  })
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
  graph.subscriptions.route('https://posthorn.test', `http://127.0.0.1:${(hook.address() as AddressInfo).port}`)
  const { mail, push, calendar } = microsoftAt(graph.url, { ...(subscriptions !== undefined && { subscriptions }) })
  onTestFinished(async () => {
    await mail.closeConnections()
    await graph.close()
    hook.closeAllConnections()
    await new Promise((resolve) => hook.close(resolve))
  })
  const access = {
    accountId: 'acc_1',
    email: USER,
    settings: {},
    secrets: {},
    accessToken: async () => accessToken,
  }
  return { graph, mail, push, calendarPush: calendar.push, access }
}

it('begins, receives notifications with immutable ids, renews and ends a subscription', async () => {
  const { graph, push, access } = await subscribing()
  const begun = await push.begin(access, WEBHOOK)
  expect(begun.expiresAt - Date.now()).toBeGreaterThan(6 * 24 * 3_600_000)
  expect(begun.expiresAt - Date.now()).toBeLessThan(10_080 * 60_000)
  expect(graph.subscriptions.of(USER)).toMatchObject([
    {
      id: begun.id,
      changeType: 'created,updated,deleted',
      resource: 'me/messages',
      clientState: 'proof',
      notificationUrl: WEBHOOK.url,
      lifecycleNotificationUrl: WEBHOOK.lifecycleUrl,
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

it('subscribes to the events of all calendars', async () => {
  const { graph, access, calendarPush } = await subscribing([...MICROSOFT_SCOPES, ...OUTLOOK_CALENDAR_SCOPES])
  const begun = await calendarPush.begin(access, 'calendar', WEBHOOK)
  expect(calendarPush.covers).toBe('account')
  expect(graph.subscriptions.of(USER)).toMatchObject([{ id: begun.id, resource: 'me/events' }])
  graph.calendars.add(USER, { id: 'other' })
  const time = { dateTime: '2026-11-20T09:00:00', timeZone: 'UTC' }
  const id = graph.calendars.put(USER, 'other', { start: time, end: time })
  graph.calendars.delete(USER, id)
  await graph.deliver(USER, plainMail())
  await graph.subscriptions.flush()
  const sent = graph.subscriptions.sent.filter(({ kind }) => kind === 'change')
  expect(sent.map(({ body }) => body)).toMatchObject([
    { value: [{ changeType: 'created', resourceData: { id } }] },
    { value: [{ changeType: 'deleted', resourceData: { id } }] },
  ])
  expect((await calendarPush.renew(access, 'calendar', begun.id, WEBHOOK)).id).toBe(begun.id)
  await calendarPush.end(access, begun.id)
  expect(graph.subscriptions.of(USER)).toEqual([])
})

it('starts and renews subscriptions to messages and events within the limit that they share', async () => {
  const scopes = [...MICROSOFT_SCOPES, ...OUTLOOK_CALENDAR_SCOPES]
  // As with Graph, whose limit is twice what one instance uses.
  const { graph, push, calendarPush, access } = await subscribing(scopes, { units: 20, perMs: 1000 })
  const most = { most: 40, perMs: 1000, key: () => '' }
  graph.limits.enforce([
    { ...most, name: 'changes of subscriptions', units: ({ endpoint }) => (/\/subscriptions/.test(endpoint) ? 1 : 0) },
  ])
  const startedMs = performance.now()
  const begun = await Promise.all(
    Array.from({ length: 24 }, (_, index) =>
      index % 2 === 0 ? push.begin(access, WEBHOOK) : calendarPush.begin(access, 'calendar', WEBHOOK),
    ),
  )
  await Promise.all(begun.map(({ id }) => push.renew(access, id, WEBHOOK)))
  expect(graph.limits.refused).toEqual([])
  // 48 changes, 18 of them at once, and 18 each 1.1 s.
  expect(performance.now() - startedMs).toBeGreaterThan(2000)
})

it('ends the waiting for a turn when the connections are closed', async () => {
  const { mail, push, access } = await subscribing(MICROSOFT_SCOPES, { units: 1, perMs: 3_600_000 })
  await push.begin(access, WEBHOOK)
  const ended = expect(push.begin(access, WEBHOOK)).rejects.toMatchObject({ kind: 'unavailable' })
  await mail.closeConnections()
  await ended
})
