import { describe, expect, it, onTestFinished } from 'vitest'
import { plainMail } from '../messages.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { BOB, IMMUTABLE, startSignedInGraph } from './signed-in-graph.ts'

describe('changes of the fake Microsoft', () => {
  it('lists new, changed, moved and deleted messages by delta, and returns 410 on request', async () => {
    const { microsoft, page, call } = await startSignedInGraph()
    const ids = []
    for (const subject of ['one', 'two', 'three']) ids.push(await microsoft.deliver(BOB, plainMail({ subject })))
    const [one = '', two = '', three = ''] = ids
    const size = { prefer: 'IdType="ImmutableId", odata.maxpagesize=2' }
    const first = await page('/me/mailFolders/inbox/messages/delta?$select=subject,isRead', size)
    expect(first.value).toHaveLength(2)
    const last = await page(first['@odata.nextLink'] ?? '', size)
    const since = last['@odata.deltaLink'] ?? ''
    expect(new URL(since).origin).toBe(microsoft.url)
    expect((await page(since, size)).value).toEqual([])
    microsoft.markRead(BOB, one, true)
    microsoft.move(BOB, two, 'archive')
    microsoft.delete(BOB, three)
    const four = await microsoft.deliver(BOB, plainMail({ subject: 'four' }))
    const changes = await page(since, { prefer: 'IdType="ImmutableId", odata.maxpagesize=10' })
    expect(changes.value).toMatchObject([
      { id: one, isRead: true },
      { id: two, '@removed': { reason: 'deleted' } },
      { id: three, '@removed': { reason: 'deleted' } },
      { id: four, subject: 'four' },
    ])
    expect(changes.value[0]).not.toHaveProperty('subject')
    microsoft.expireDelta(BOB)
    const gone = await call(changes['@odata.deltaLink'] ?? '')
    expect(gone.status).toBe(410)
    expect(await gone.json()).toMatchObject({ error: { code: 'syncStateNotFound' } })
  })

  it('reports a message that came back as removed under its immutable id, and as another one under its other id', async () => {
    const { microsoft, page } = await startSignedInGraph()
    const id = await microsoft.deliver(BOB, plainMail({ subject: 'one' }))
    const [mine, other] = await Promise.all(
      [IMMUTABLE, {}].map((headers) => page('/me/mailFolders/inbox/messages/delta', headers)),
    )
    for (const folder of ['archive', 'inbox']) microsoft.move(BOB, id, folder)
    expect((await page(mine?.['@odata.deltaLink'] ?? '', IMMUTABLE)).value).toMatchObject([{ id, '@removed': {} }])
    expect((await page(other?.['@odata.deltaLink'] ?? '')).value).toMatchObject([{ subject: 'one' }])
  })

  it('subscribes after a handshake, and sends change and lifecycle notifications', async () => {
    const { microsoft, send } = await startSignedInGraph()
    const app = await startReceiver()
    onTestFinished(() => app.close())
    microsoft.subscriptions.route('https://app.test', app.url)
    const wanted = {
      changeType: 'created,deleted',
      notificationUrl: 'https://app.test/notify',
      lifecycleNotificationUrl: 'https://app.test/life',
      resource: "me/mailFolders('inbox')/messages",
      expirationDateTime: new Date(Date.now() + 3_600_000).toISOString(),
      clientState: 'proof',
    }
    expect((await send('POST', '/subscriptions', wanted)).status).toBe(400)
    app.always(echo)
    const made = (await (await send('POST', '/subscriptions', wanted)).json()) as { id: string }
    app.requests.length = 0
    const id = await microsoft.deliver(BOB, plainMail())
    await microsoft.deliver(BOB, plainMail(), { folder: 'archive' })
    microsoft.move(BOB, id, 'archive')
    await microsoft.lifecycle(BOB, 'missed')
    expect(bodies(app)).toMatchObject([
      {
        subscriptionId: made.id,
        clientState: 'proof',
        changeType: 'created',
        resourceData: { id: expect.any(String) },
      },
      { changeType: 'deleted' },
      { lifecycleEvent: 'missed', subscriptionId: made.id },
    ])
    const later = { expirationDateTime: new Date(Date.now() + 7_200_000).toISOString() }
    expect((await send('PATCH', `/subscriptions/${made.id}`, later)).status).toBe(200)
    await microsoft.lifecycle(BOB, 'subscriptionRemoved')
    expect((await send('PATCH', `/subscriptions/${made.id}`, later)).status).toBe(404)
  })
})

function echo({ path }: { path: string }) {
  const asked = new URL(path, 'http://app.test').searchParams.get('validationToken')
  return asked === null ? { status: 202 } : { status: 200, headers: { 'content-type': 'text/plain' }, body: asked }
}

function bodies(app: Receiver) {
  return app.requests.map(({ body }) => JSON.parse(body).value[0])
}
