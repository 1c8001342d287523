import { generateKeyPairSync } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqlite } from '../../src/platform/db/index.ts'
import { openPostgres } from '../../src/platform/db/postgres/postgres.ts'
import { describeOneDatabase, describePostgres, type Place } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { type Api, api } from '../kit/http/http.ts'
import { type Service, startService } from '../kit/service/service.ts'
import { type Google, startGoogle } from '../servers/google.ts'
import { plainMail } from '../servers/messages.ts'
import { type Microsoft, startMicrosoft } from '../servers/microsoft.ts'

const ADA = 'ada@example.com'
const PUBLIC_URL = 'https://posthorn.example.com/mail'
const NOTIFICATIONS = '/providers/microsoft/notifications'

const services: Service[] = []
async function serve(place: Place, environment: Record<string, string>): Promise<Api> {
  const service = await startService({ place, environment })
  services.push(service)
  return api(service.url, service.key)
}
afterEach(async () => {
  for (const service of services.splice(0).reverse()) await service.stop()
})

async function link(client: Api, provider: string, refreshToken: string, customUserId?: string): Promise<string> {
  const response = await client.post('/accounts', { provider, refreshToken, ...(customUserId && { customUserId }) })
  expect(response.status).toBe(200)
  const { id } = response.json
  await eventually(async () => (await client.get(`/accounts/${id}`)).json.status === 'connected')
  return id
}

const events = async (client: Api, accountId: string, type = 'message.received') =>
  (await client.get(`/events?limit=200&accountId=${accountId}&type=${type}`)).json.events

async function received(client: Api, accountId: string, ...subjects: string[]): Promise<void> {
  await eventually(async () => {
    const all: { data: { subject: string } }[] = await events(client, accountId)
    expect(all.map(({ data }) => data.subject).sort()).toEqual([...subjects].sort())
  })
}

const mail = (subject: string) => plainMail({ subject, messageId: `<${subject}@example.com>`, to: ADA })
const isReady = (client: Api) =>
  eventually(async () => expect((await client.get('/health')).json.data.gmailPush.mode).toBe('push'))

describeOneDatabase('push from Gmail', 'sqlite', (open) => {
  let google: Google
  let place: Place
  beforeEach(async () => {
    google = await startGoogle()
    google.addUser(ADA)
    place = await open.place()
  })
  afterEach(() => google.close())
  const watched = () => eventually(() => expect(google.watch.watched()).toEqual([ADA]))
  const quiet = async () => {
    await eventually(() => expect(google.pubsub.waiting).toBe(0))
    await settled(() => google.calls.total({ user: ADA }))
  }

  it('delivers a new message without polling', async () => {
    const client = await serve(place, google.pushSettings)
    await isReady(client)
    const { refreshToken } = await google.grant(ADA)
    const id = await link(client, 'gmail', refreshToken)
    await watched()
    await quiet()
    google.deliver(ADA, mail('pushed'))
    await received(client, id, 'pushed')
    expect(google.pubsub.waiting).toBe(0)
    expect((await client.get('/health')).json.data).toMatchObject({
      status: 'healthy',
      gmailPush: { configured: true, ready: true, mode: 'push' },
    })
  })

  it('stops polling while notifications arrive, and polls again while they do not', async () => {
    const client = await serve(place, google.pushSettings)
    await isReady(client)
    const { refreshToken } = await google.grant(ADA)
    const id = await link(client, 'gmail', refreshToken)
    await watched()
    await quiet()
    const nextSyncMs = async () => {
      const { nextRunAt } = (await client.get(`/debounced-queue/accounts/${id}`)).json
      return Date.parse(nextRunAt) - Date.now()
    }
    google.deliver(ADA, mail('pushed'))
    await received(client, id, 'pushed')
    await eventually(async () => expect(await nextSyncMs()).toBeGreaterThan(300_000))
    google.fail({ as: 'server-error', on: /:pull/, times: 1000 })
    google.deliver(ADA, mail('polled'))
    await eventually(async () => {
      const { data } = (await client.get('/health')).json
      expect(data).toMatchObject({ status: 'degraded', gmailPush: { configured: true, ready: false, mode: 'polling' } })
      expect(data.warnings).toContain('gmail_push')
    })
    await received(client, id, 'pushed', 'polled')
    google.faults.clear()
    await isReady(client)
    google.deliver(ADA, mail('pushed again'))
    await received(client, id, 'pushed', 'polled', 'pushed again')
    await eventually(async () => expect(await nextSyncMs()).toBeGreaterThan(300_000))
  })

  it('ignores duplicate notifications and drops other messages', async () => {
    const client = await serve(place, google.pushSettings)
    await isReady(client)
    const { refreshToken } = await google.grant(ADA)
    const id = await link(client, 'gmail', refreshToken)
    await watched()
    google.deliver(ADA, mail('one'))
    await received(client, id, 'one')
    await quiet()
    const before = google.calls.total({ user: ADA })
    google.pubsub.publish({ emailAddress: ADA, historyId: google.historyId(ADA) })
    google.pubsub.publish({ emailAddress: 'nobody@example.com', historyId: '999' })
    for (const nonsense of [{}, [], { emailAddress: 7, historyId: 'x' }, { text: 'y'.repeat(9000) }]) {
      google.pubsub.publish(nonsense)
    }
    await quiet()
    expect(google.calls.total({ user: ADA })).toBe(before)
    google.deliver(ADA, mail('two'))
    await received(client, id, 'one', 'two')
  })

  it('syncs every account of an address', async () => {
    const client = await serve(place, google.pushSettings)
    await isReady(client)
    const { refreshToken } = await google.grant(ADA)
    const ids = [await link(client, 'gmail', refreshToken), await link(client, 'gmail', refreshToken, 'second')]
    await watched()
    await quiet()
    google.deliver(ADA, mail('both'))
    for (const id of ids) await received(client, id, 'both')
    await client.delete(`/accounts/${ids[0]}`)
    await erased(client, place, ids[0] ?? '')
    expect(google.watch.watched()).toEqual([ADA])
  })

  it('loses nothing and announces nothing twice when an acknowledgement fails', async () => {
    google.pubsub.ackDeadlineMs = 300
    const client = await serve(place, google.pushSettings)
    await isReady(client)
    const { refreshToken } = await google.grant(ADA)
    const id = await link(client, 'gmail', refreshToken)
    await watched()
    await quiet()
    google.fail({ as: 'reset', on: /:acknowledge/, times: 2 })
    google.deliver(ADA, mail('once'))
    await received(client, id, 'once')
    await eventually(() => expect(google.pubsub.waiting).toBe(0))
    await settled(() => google.calls.total({ user: ADA }))
    expect(await events(client, id)).toHaveLength(1)
  })

  it('processes notifications from before the start', async () => {
    const client = await serve(place, google.pushSettings)
    await isReady(client)
    const { refreshToken } = await google.grant(ADA)
    const id = await link(client, 'gmail', refreshToken)
    await watched()
    await quiet()
    await services.pop()?.stop()
    google.deliver(ADA, mail('meanwhile'))
    expect(google.pubsub.waiting).toBe(1)
    const again = await serve(place, google.pushSettings)
    await received(again, id, 'meanwhile')
    await eventually(() => expect(google.pubsub.waiting).toBe(0))
  })

  it('ends the watch when the account is deleted', async () => {
    const client = await serve(place, google.pushSettings)
    await isReady(client)
    const { refreshToken } = await google.grant(ADA)
    const id = await link(client, 'gmail', refreshToken)
    await watched()
    await client.delete(`/accounts/${id}`)
    await erased(client, place, id)
    expect(google.watch.watched()).toEqual([])
  })

  it.each([
    ['a topic that does not exist', { PUBSUB_TOPIC_NAME: 'projects/project/topics/other' }, 'does not belong to'],
    ['a subscription that does not exist', { PUBSUB_SUBSCRIPTION_NAME: 'other' }, 'not found'],
    ['a name that is none', { PUBSUB_TOPIC_NAME: 'https://topic' }, 'PUBSUB_TOPIC_NAME must look like'],
    ['credentials that are none', { APPLICATION_CREDENTIALS: '{"type":"service_account"}' }, 'not the JSON key'],
    ['a file that is not there', { APPLICATION_CREDENTIALS: '/nowhere/key.json' }, 'cannot be read'],
    ['a topic alone', { PUBSUB_SUBSCRIPTION_NAME: '', APPLICATION_CREDENTIALS: '' }, 'not set'],
  ])('%s: the service runs, degraded, and asks', async (_name, wrong, problem) => {
    const settings = Object.entries({ ...google.pushSettings, ...wrong }).filter(([, value]) => value !== '')
    const client = await serve(place, Object.fromEntries(settings))
    await eventually(async () => {
      const { data } = (await client.get('/health/detailed')).json
      expect(data).toMatchObject({ status: 'degraded', onboarding: { canProceed: true } })
      expect(data.gmailPush).toMatchObject({ configured: true, ready: false, mode: 'polling' })
      expect(data.warnings).toContainEqual({
        code: 'gmail_push',
        message: expect.stringContaining(problem),
        remedy: expect.stringContaining('PUBSUB_'),
      })
    })
    const { refreshToken } = await google.grant(ADA)
    await link(client, 'gmail', refreshToken)
    expect(google.watch.watched()).toEqual([])
  })

  it('shows no secret when Google rejects the credentials', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' })
    const credentials = JSON.stringify({ ...JSON.parse(google.pubsub.credentials), private_key })
    const client = await serve(place, { ...google.pushSettings, APPLICATION_CREDENTIALS: credentials })
    await eventually(async () => {
      const response = await client.get('/health/detailed')
      expect(response.json.data.warnings).toContainEqual({
        code: 'gmail_push',
        message: expect.stringContaining('refused APPLICATION_CREDENTIALS'),
        remedy: expect.any(String),
      })
      expect(response.text).not.toContain('PRIVATE')
    })
  })
})

describeOneDatabase('push from Graph', 'postgres', (open) => {
  let microsoft: Microsoft
  let place: Place
  beforeEach(async () => {
    microsoft = await startMicrosoft()
    microsoft.addUser(ADA)
    place = await open.place()
  })
  afterEach(() => microsoft.close())

  async function pushed(environment: Record<string, string> = {}) {
    const client = await serve(place, { ...microsoft.settings, PUBLIC_URL, ...environment })
    microsoft.subscriptions.route(PUBLIC_URL, client.url)
    const { refreshToken } = await microsoft.grant(ADA)
    const id = await link(client, 'microsoft', refreshToken)
    return { client, id }
  }
  const subscribed = () =>
    eventually(() => {
      const [subscription, ...more] = microsoft.subscriptions.of(ADA)
      expect(more).toEqual([])
      if (subscription === undefined) throw new Error('there is no subscription')
      return subscription
    })
  const quiet = async () => {
    await microsoft.subscriptions.flush()
    await settled(() => microsoft.calls.total({ user: ADA }))
  }

  it('delivers a new message without polling', async () => {
    const { client, id } = await pushed()
    const { clientState, notificationUrl } = await subscribed()
    expect(notificationUrl).toBe(PUBLIC_URL + NOTIFICATIONS)
    await quiet()
    await microsoft.deliver(ADA, mail('pushed'))
    await received(client, id, 'pushed')
    await microsoft.subscriptions.flush()
    expect(microsoft.subscriptions.sent.filter(({ kind }) => kind === 'change').map(({ status }) => status)).toEqual([
      202,
    ])
    expect(JSON.stringify(await events(client, id))).not.toContain(clientState)
  })

  it('accepts forged notifications and those of unknown subscriptions without a sync', async () => {
    const { client } = await pushed()
    const { id: subscriptionId } = await subscribed()
    const forged = [
      { subscriptionId, clientState: 'x'.repeat(43) },
      { subscriptionId },
      { subscriptionId, clientState: null, lifecycleEvent: 'subscriptionRemoved' },
      { subscriptionId: 'unknown', clientState: 'y' },
    ]
    const stranger = api(client.url)
    // A sync of its own may fall into one round, but not into each.
    await eventually(async () => {
      await quiet()
      const before = microsoft.calls.total({ user: ADA })
      for (const value of [forged, []]) {
        expect((await stranger.post(NOTIFICATIONS, { value })).status).toBe(202)
        expect((await stranger.post(`${NOTIFICATIONS}/lifecycle`, { value })).status).toBe(202)
      }
      await quiet()
      expect(microsoft.calls.total({ user: ADA })).toBe(before)
    })
  })

  it('handles the three lifecycle notifications: renews, recreates, syncs', async () => {
    const { client, id } = await pushed()
    const first = await subscribed()
    await quiet()
    const renewals = () => microsoft.calls.counts({ user: ADA })['PATCH /v1.0/subscriptions/{id}'] ?? 0
    await microsoft.lifecycle(ADA, 'reauthorizationRequired')
    await eventually(() => expect(renewals()).toBe(1))
    await quiet()
    microsoft.subscriptions.enabled = false
    await microsoft.deliver(ADA, mail('missed'))
    await microsoft.lifecycle(ADA, 'missed')
    await received(client, id, 'missed')
    microsoft.subscriptions.enabled = true
    await microsoft.lifecycle(ADA, 'subscriptionRemoved')
    await eventually(async () => expect((await subscribed()).id).not.toBe(first.id))
    await quiet()
    await microsoft.deliver(ADA, mail('again'))
    await received(client, id, 'missed', 'again')
  })

  it('ends the subscription when the account is deleted', async () => {
    const { client, id } = await pushed()
    await subscribed()
    await client.delete(`/accounts/${id}`)
    await erased(client, place, id)
    expect(microsoft.subscriptions.of(ADA)).toEqual([])
  })

  it('creates no subscription for an account that is not watched', async () => {
    const { client, id } = await pushed()
    await subscribed()
    await client.patch(`/accounts/${id}`, { watch: false })
    await eventually(() => expect(microsoft.subscriptions.of(ADA)).toEqual([]))
    await client.patch(`/accounts/${id}`, { watch: true })
    await subscribed()
  })

  it.each(['http://posthorn.example.com', 'https://localhost', 'https://127.0.0.1:8443'])(
    'polls instead of subscribing when Graph cannot reach %s',
    async (publicUrl) => {
      await pushed({ PUBLIC_URL: publicUrl })
      await quiet()
      expect(microsoft.calls.counts()['POST /v1.0/subscriptions']).toBeUndefined()
    },
  )
})

describe('the notification URL of Graph', () => {
  let client: Api
  beforeEach(async () => {
    const service = await startService()
    services.push(service)
    client = api(service.url)
  })

  it('returns the validation token as plain text', async () => {
    const token = 'Validation: <b>of</b> an address?&é'
    for (const path of [NOTIFICATIONS, `${NOTIFICATIONS}/lifecycle`]) {
      const response = await client.post(`${path}?validationToken=${encodeURIComponent(token)}`, '', {
        'content-type': 'text/plain; charset=utf-8',
      })
      expect([response.status, response.text]).toEqual([200, token])
      expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    }
    expect((await client.post(`${NOTIFICATIONS}?validationToken=${'x'.repeat(2000)}`)).status).toBe(400)
  })

  it('rejects a body that is not a notification', async () => {
    for (const body of [undefined, {}, { value: 'x' }, { value: [{}] }, { value: [{ subscriptionId: 7 }] }]) {
      expect((await client.post(NOTIFICATIONS, body)).status).toBe(400)
    }
    expect((await client.post(NOTIFICATIONS, { value: [], more: 'x'.repeat(2_000_000) })).status).toBe(413)
    expect((await client.get(NOTIFICATIONS)).status).toBe(405)
  })
})

describePostgres('with two replicas', (open) => {
  it('a notification to either replica makes the owner sync the account', async () => {
    const [google, microsoft] = [await startGoogle(), await startMicrosoft()]
    try {
      const place = await open.place()
      const environment = { ...google.pushSettings, ...microsoft.settings, PUBLIC_URL }
      google.addUser(ADA)
      microsoft.addUser(ADA)
      const first = await serve(place, environment)
      await isReady(first)
      const second = await serve(place, environment)
      await isReady(second)
      const gmail = await link(first, 'gmail', (await google.grant(ADA)).refreshToken)
      // Every Graph notification is sent to both replicas, one after the other.
      for (const at of [first, second]) {
        microsoft.subscriptions.route(PUBLIC_URL, at.url)
        const outlook = await link(first, 'microsoft', (await microsoft.grant(ADA)).refreshToken)
        await eventually(() => expect(microsoft.subscriptions.of(ADA)).toHaveLength(1))
        await microsoft.deliver(ADA, mail(at === first ? 'one' : 'two'))
        await received(second, outlook, ...(at === first ? ['one'] : ['one', 'two']))
      }
      await eventually(() => expect(google.watch.watched()).toEqual([ADA]))
      const subjects = ['a', 'b', 'c', 'd', 'e']
      for (const subject of subjects) {
        google.deliver(ADA, mail(subject))
        await eventually(() => expect(google.pubsub.waiting).toBe(0))
      }
      await received(second, gmail, ...subjects)
    } finally {
      for (const service of services.splice(0).reverse()) await service.stop()
      await Promise.all([google.close(), microsoft.close()])
    }
  })
})

/** The count stays as it is for a while that is long for loopback. */
async function settled(count: () => number): Promise<void> {
  let last = -1
  let since = performance.now()
  await eventually(() => {
    if (count() !== last) {
      last = count()
      since = performance.now()
    }
    return performance.now() - since > 400
  })
}

async function erased(client: Api, place: Place, accountId: string): Promise<void> {
  expect((await client.get(`/accounts/${accountId}`)).status).toBe(404)
  const { databaseUrl, dataDir } = place
  const db =
    databaseUrl === undefined
      ? openSqlite({ file: `${dataDir}/posthorn.db`, synchronous: 'NORMAL', onSlowStatement: () => {} })
      : openPostgres({ url: databaseUrl, maxConnections: 1, onError: () => {} })
  try {
    await eventually(async () => {
      const left = await db.read.selectFrom('accountErasures').select('accountId').execute()
      expect(left).toEqual([])
    })
    expect(
      await db.read.selectFrom('pushSubscriptions').selectAll().where('accountId', '=', accountId).execute(),
    ).toEqual([])
  } finally {
    await db.close()
  }
}
