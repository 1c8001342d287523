import { expect, it, onTestFinished } from 'vitest'
import { testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { type Databases, describeEachDatabase } from '../../../test/kit/database/database.ts'
import { testServer } from '../../../test/kit/http/server.ts'
import { catalogue } from '../../app/feature-list.ts'
import { recorder } from '../../events/index.ts'
import { idGenerator } from '../../platform/ids.ts'
import { silentLog } from '../../platform/log/index.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { tracking as createTracking, trackingRoutes } from './index.ts'
import { eraseTracking, purgeTracking } from './store.ts'

const ids = idGenerator(systemClock)
const HTML = '<body><a href="https://shop.example/?a=1&amp;b=2">Shop</a></body>'
const PERSON = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/132.0' }
const APPLE = { 'user-agent': 'Mozilla/5.0' }

describeEachDatabase('tracking', (open) => {
  it('counts opens within 60 s once, says which are automated, and announces them', async () => {
    const { send, load, read, events, pass } = await served(open)
    const { result, messageId } = await send()
    const pixel = new URL(result.pixelUrl).pathname
    await Promise.all([1, 2, 3].map(() => load(pixel, APPLE)))
    expect(await read(result.id)).toMatchObject({
      tracking: { id: result.id, messageId },
      metrics: { totalEvents: 1, openCount: 1, clickCount: 0, replyCount: 0, lastClickedAt: null },
      events: [{ type: 'opened', automated: true, automatedReason: 'apple_mail_privacy', userAgent: 'Mozilla/5.0' }],
    })
    // A person within the same minute: the same open, which is not automated after all.
    await load(pixel, PERSON)
    await load(pixel, APPLE)
    expect(await read(result.id)).toMatchObject({
      metrics: { openCount: 1 },
      events: [{ automated: false, automatedReason: null }],
    })
    pass(60_000)
    await load(pixel, PERSON)
    expect((await read(messageId)).metrics.openCount).toBe(2)
    const opened = await events('message.opened')
    expect(opened.map(({ data }) => [data.openCount, data.automated])).toEqual([
      [1, true],
      [1, false],
      [2, false],
    ])
    expect(new Set(opened.map(({ version }) => version)).size).toBe(3)
  })

  it('returns the pixel for every request, and records only visits of known messages', async () => {
    const { send, load, app, read } = await served(open)
    const { result } = await send()
    const pixel = new URL(result.pixelUrl).pathname
    for (const path of [pixel, '/t/unknown.gif', `/t/${'x'.repeat(60)}.gif`]) {
      const { statusCode, headers, rawPayload } = await load(path, PERSON)
      expect([statusCode, headers['content-type'], headers['cache-control']]).toEqual([200, 'image/gif', 'no-store'])
      expect(rawPayload.subarray(0, 6).toString()).toBe('GIF89a')
    }
    expect((await app.inject({ method: 'HEAD', url: pixel })).statusCode).toBe(200)
    expect((await read(result.id)).metrics.openCount).toBe(1)
  })

  it('redirects to stored targets only, and counts each click of a person or a scanner', async () => {
    const { send, load, app, read, events } = await served(open)
    const { result, html } = await send()
    const [, link = ''] = /href="http:\/\/track\.example(\/t\/[^"]+)"/.exec(html ?? '') ?? []
    const followed = await load(link, PERSON)
    expect([followed.statusCode, followed.headers.location]).toEqual([302, 'https://shop.example/?a=1&b=2'])
    expect(followed.headers['cache-control']).toBe('no-store')
    await load(link, { 'user-agent': 'curl/8.11' })
    await app.inject({ method: 'HEAD', url: link })
    for (const url of [`${link}0`, link.replace(/\d$/, '0'), '/t/unknown/1', `${link}?url=https://evil.example`]) {
      const { statusCode, headers } = await load(url, PERSON)
      if (url.includes('?')) expect(headers.location).toBe('https://shop.example/?a=1&b=2')
      else expect([url, [400, 404].includes(statusCode), headers.location]).toEqual([url, true, undefined])
    }
    expect((await read(result.id)).metrics).toMatchObject({ clickCount: 3, openCount: 0 })
    const clicks = await events('message.link_clicked')
    expect(clicks.map(({ data }) => [data.url, data.automatedReason])).toEqual([
      ['https://shop.example/?a=1&b=2', null],
      ['https://shop.example/?a=1&b=2', 'scanner'],
      ['https://shop.example/?a=1&b=2', null],
    ])
  })

  it('inserts nothing unless asked to, and always returns every value', async () => {
    const { send } = await served(open)
    for (const [insert, html] of [
      [false, HTML],
      [true, null],
    ] as const) {
      const sent = await send({ insert, html })
      expect(sent.html).toBe(html)
      const { token } = sent.result
      expect(sent.result).toEqual({
        id: expect.stringMatching(/^trk_/),
        token: expect.stringMatching(/^[\w-]{24}$/),
        pixelUrl: `http://track.example/t/${token}.gif`,
        snippet: `<img src="http://track.example/t/${token}.gif" width="1" height="1" alt="" style="display:none">`,
        headers: { 'X-Service-Tracking-Token': token },
        domain: 'track.example',
      })
    }
  })

  it('stores at most 1,000 clicks of one message', async () => {
    const { db, send, load, read } = await served(open)
    const { result, html } = await send()
    await db.transaction((tx) => tx.updateTable('trackings').set({ clickCount: 999 }).execute())
    const [, link = ''] = /href="http:\/\/track\.example(\/t\/[^"]+)"/.exec(html ?? '') ?? []
    for (let click = 0; click < 3; click += 1) expect((await load(link, PERSON)).statusCode).toBe(302)
    const { metrics, events } = await read(result.id)
    expect([metrics.clickCount, events.length]).toEqual([1000, 1])
  })

  it('requires the key for reads, refuses unknown ids, and is erased and purged', async () => {
    const { db, accountId, send, load, app, read } = await served(open)
    const { result } = await send()
    await load(new URL(result.pixelUrl).pathname, PERSON)
    const url = `/messages/tracking/${result.id}`
    expect((await app.inject({ url })).statusCode).toBe(401)
    for (const id of ['trk_unknown', 'msg_unknown', result.token]) {
      expect((await app.inject({ url: `/messages/tracking/${id}`, headers: KEY })).statusCode).toBe(404)
    }
    await db.transaction((tx) => purgeTracking(tx, 1, 200))
    expect((await read(result.id)).events).toHaveLength(1)
    expect(await db.transaction((tx) => eraseTracking(tx, 'acc_other', 200))).toBe(0)
    expect(await db.transaction((tx) => eraseTracking(tx, accountId, 200))).toBe(1)
    expect((await app.inject({ url, headers: KEY })).statusCode).toBe(404)
    expect(await db.read.selectFrom('trackingEvents').selectAll().execute()).toEqual([])
    await send()
    expect(await db.transaction((tx) => purgeTracking(tx, Date.now() + 1e6, 200))).toBe(1)
    expect(await db.read.selectFrom('trackingLinks').selectAll().execute()).toEqual([])
  })
})

const KEY = { authorization: 'Bearer good' }

async function served(open: Databases) {
  const db = await open()
  const { accounts, link, bus } = testAccounts(db)
  let offsetMs = 0
  const clock = { ...systemClock, now: () => systemClock.now() + offsetMs }
  const events = recorder({ catalogue, clock, ids, bus })
  const { id: accountId } = await link()
  const tracking = createTracking({ db, clock, ids, events, accounts, baseUrl: 'http://track.example' })
  const app = testServer()
  trackingRoutes(app, { tracking, log: silentLog })
  await app.ready()
  onTestFinished(() => app.close())
  return {
    db,
    app,
    accountId,
    load: (url: string, headers: Record<string, string>) => app.inject({ url, headers }),
    read: async (id: string) => (await app.inject({ url: `/messages/tracking/${id}`, headers: KEY })).json(),
    pass: (ms: number) => {
      offsetMs += ms
    },
    async send(over: { insert?: boolean; html?: string | null } = {}) {
      const messageId = ids('msg')
      const message = {
        accountId,
        messageId,
        rfcMessageId: `<${messageId}@x>`,
        subject: 'Offer',
        html: HTML,
        insert: true,
      }
      const prepared = await tracking.prepare({ ...message, ...over })
      await db.transaction((tx) => tracking.store(tx, prepared))
      return { ...prepared, messageId }
    },
    async events(type: string) {
      const rows = await db.read.selectFrom('events').selectAll().where('type', '=', type).orderBy('sequence').execute()
      return rows.map(({ version, data }) => ({ version, data: JSON.parse(data) }))
    },
  }
}
