import { afterEach, describe, expect, it } from 'vitest'
import { type Api, api } from '../../../test/kit/http/http.ts'
import { testServer } from '../../../test/kit/http/server.ts'
import { memoryCache } from '../../platform/cache/index.ts'
import type { App } from '../../platform/http/index.ts'
import { idGenerator } from '../../platform/ids.ts'
import { fixedClock } from '../../platform/time/clock.ts'
import { type HealthDeps, health, healthRoutes, startupServer } from './index.ts'

let app: App
afterEach(() => app.close())

const clock = fixedClock(Date.parse('2026-01-31T08:00:00Z'))
const works = async () => {}
/** The first two minutes after a start are no measure of the service. */
const STARTED_MS = 120_000
const fails = async () => {
  throw new Error('connect to postgres://user:password@host failed')
}

const isAboutDelay = (code: string) => code !== 'memory_full'

const FIGURES = {
  instances: 2,
  stalledAccounts: 0,
  unownedAccounts: 0,
  greatestLagMs: 40,
  uncertainMessages: 0,
  waiting: { deliveries: 3, outbox: 0, events: 0 },
  ageMs: { deliveries: 500, outbox: null, events: null },
}

async function serve(changes: Partial<HealthDeps> = {}): Promise<Api> {
  app = testServer()
  const deps: HealthDeps = {
    clock,
    instanceId: 'ins_1',
    version: '1.2.3',
    phase: () => 'ready',
    db: { engine: 'sqlite', ping: works },
    writeFailure: () => undefined,
    cache: memoryCache({ clock }),
    queue: { provider: 'database', ping: works },
    bus: { provider: 'memory', ping: works },
    licence: { plan: 'community', accountLimit: null, allowsAnother: () => true, problem: () => undefined },
    countAccounts: async () => 3,
    providers: () => [{ name: 'imap', canConnect: true }],
    settingsProblems: () => [],
    keysBesideData: false,
    figures: async () => FIGURES,
    eventLoop: () => ({ meanMs: 1, p99Ms: 3, maxMs: 9 }),
    logExport: () => ({ enabled: false, dropped: 0 }),
    ...changes,
  }
  healthRoutes(app, { health: health(deps) })
  return api(await app.listen({ port: 0, host: '127.0.0.1' }))
}

describe('GET /health', () => {
  it('returns the documented form without a key', async () => {
    const response = await (await serve()).get('/health')
    expect(response.status).toBe(200)
    expect(response.json).toEqual({
      success: true,
      data: {
        status: 'healthy',
        services: { database: true, cache: true, queue: true, pubsub: true },
        cache: { provider: 'memory' },
        queue: { provider: 'database' },
        pubsub: { provider: 'memory' },
        gmailPush: { configured: false, ready: false, mode: 'polling' },
        onboarding: { canProceed: true, reasons: [] },
        license: { plan: 'community', effectiveAccountLimit: null, currentAccounts: 3 },
        memory: { percentage: expect.any(Number) },
        warnings: [],
      },
    })
    expect(response.json.data.memory.percentage).toBeGreaterThan(0)
    expect(response.json.data.memory.percentage).toBeLessThan(100)
  })

  it('is degraded, with status 200, when a required part is down, and reveals no cause', async () => {
    for (const part of [
      { db: { engine: 'postgres', ping: fails } },
      { writeFailure: () => new Error('password') },
      { queue: { provider: 'database', ping: fails } },
      { bus: { provider: 'postgres', ping: fails } },
      { cache: { ...memoryCache({ clock }), ping: fails } },
      { gmailPush: () => ({ configured: true, ready: false }) },
    ] satisfies Partial<HealthDeps>[]) {
      const response = await (await serve(part)).get('/health')
      expect([response.status, response.json.data.status]).toEqual([200, 'degraded'])
      expect(response.text).not.toContain('password')
      await app.close()
    }
  })

  it('does not wait for a hanging part', async () => {
    const hanging = await serve({ bus: { provider: 'postgres', ping: () => new Promise(() => {}) } })
    const response = await hanging.get('/health')
    expect(response.json.data.services).toEqual({ database: true, cache: true, queue: true, pubsub: false })
  })

  it('probes the parts at most once a second', async () => {
    let asked = 0
    const client = await serve({
      db: {
        engine: 'sqlite',
        ping: async () => {
          asked += 1
        },
      },
    })
    await Promise.all([client.get('/health'), client.get('/health'), client.get('/health/ready')])
    expect(asked).toBe(1)
    clock.advance(1000)
    await client.get('/health')
    expect(asked).toBe(2)
  })

  it('reports whether a mailbox can be connected, and every reason when it cannot', async () => {
    const blocked = await serve({
      providers: () => [{ name: 'gmail', canConnect: false }],
      licence: {
        plan: 'team',
        accountLimit: 3,
        allowsAnother: (accounts) => accounts < 3,
        problem: () => 'It has ended.',
      },
      settingsProblems: () => [
        { reason: 'settings_invalid' as const, message: 'PUBSUB_TOPIC_NAME is not a topic.' },
        { reason: 'oauth_incomplete' as const, message: 'GOOGLE_CLIENT_SECRET is not set.' },
      ],
      keysBesideData: true,
    })
    const { data } = (await blocked.get('/health')).json
    expect(data.onboarding).toEqual({
      canProceed: false,
      reasons: ['no_provider', 'licence_full', 'settings_invalid', 'oauth_incomplete'],
    })
    expect(data.license).toEqual({ plan: 'team', effectiveAccountLimit: 3, currentAccounts: 3 })
    expect(data.warnings).toEqual(['keys_beside_data', 'licence', 'settings_invalid', 'oauth_incomplete'])
    await app.close()

    const down = await serve({ countAccounts: () => Promise.reject(new Error('down')) })
    const response = (await down.get('/health')).json.data
    expect(response.onboarding).toEqual({ canProceed: false, reasons: ['database_unavailable'] })
    expect(response.license.currentAccounts).toBeNull()
  })
})

describe('GET /health/detailed', () => {
  it('requires a key and reports the latency and problem of each part', async () => {
    const client = await serve({ bus: { provider: 'postgres', ping: fails }, keysBesideData: true })
    expect((await client.get('/health/detailed')).status).toBe(401)
    const response = await api(client.url, 'reader').get('/health/detailed')
    expect(response.json.data).toMatchObject({
      status: 'degraded',
      version: '1.2.3',
      instance: 'ins_1',
      phase: 'ready',
      startedAt: expect.stringMatching(/^2026-01-31T08:/),
      database: { healthy: true, engine: 'sqlite', latencyMs: expect.any(Number) },
      queue: { healthy: true },
      rateLimiter: { healthy: true, provider: 'memory' },
      pubsub: { healthy: false, provider: 'postgres', problem: 'failed', remedy: expect.stringContaining('DATA_DIR') },
      memory: { rssBytes: expect.any(Number), limit: expect.stringMatching(/^(container|heap)$/) },
      search: { healthy: true },
      instances: 2,
      sync: { stalledAccounts: 0, unownedAccounts: 0, greatestLagMs: 40 },
      outbox: { waiting: 0, oldestAgeMs: null, uncertain: 0 },
      deliveries: { waiting: 3, oldestAgeMs: 500 },
      events: { waiting: 0, oldestAgeMs: null },
      eventLoop: { meanMs: 1, p99Ms: 3, maxMs: 9 },
      logExport: { enabled: false, dropped: 0 },
      warnings: [{ code: 'keys_beside_data', message: expect.any(String), remedy: 'Set ENCRYPTION_KEYS.' }],
    })
    expect(response.json.data.database).not.toHaveProperty('remedy')
    expect(response.text).not.toContain('password')
  })

  it('names a remedy, on one line, for each part that fails and for each warning', async () => {
    const redis = { provider: 'redis' as const, ping: fails }
    const broken = await serve({
      db: { engine: 'postgres', ping: fails },
      queue: redis,
      bus: redis,
      cache: { ...memoryCache({ clock }), ...redis },
      gmailPush: () => ({ configured: true, ready: false, problem: 'the topic does not exist' }),
      searchFailure: () => new Error('the file is corrupt'),
      figures: async () => ({
        instances: 2,
        stalledAccounts: 4,
        unownedAccounts: 1,
        greatestLagMs: 3_600_000,
        uncertainMessages: 1,
        waiting: { deliveries: 10_000, outbox: 1, events: 5 },
        ageMs: { deliveries: 1_000_000, outbox: 1_000_000, events: 61_000 },
      }),
      eventLoop: () => ({ meanMs: 100, p99Ms: 300, maxMs: 900 }),
      logExport: () => ({ enabled: true, dropped: 7 }),
    })
    clock.advance(STARTED_MS)
    const { data } = (await api(broken.url, 'reader').get('/health/detailed')).json
    for (const part of ['database', 'cache', 'queue', 'rateLimiter', 'pubsub', 'search', 'gmailPush']) {
      expect([part, data[part]]).toEqual([
        part,
        expect.objectContaining({ problem: expect.any(String), remedy: expect.stringMatching(/^[A-Z].+\.$/) }),
      ])
    }
    const codes = ['gmail_push', 'sync_stalled', 'sync_late', 'accounts_unowned', 'outbox_old', 'outbox_uncertain']
    codes.push('deliveries_old', 'events_old', 'event_loop_slow', 'log_export_dropped')
    const warnings: { code: string; message: string; remedy: string }[] = data.warnings
    expect(warnings.map(({ code }) => code).filter((code) => code !== 'memory_full')).toEqual(codes)
    for (const { message, remedy } of warnings) expect(`${message} ${remedy}`).toMatch(/^\S[^\n]+\.$/)
    expect((await broken.get('/health')).json.data.warnings).toEqual(expect.arrayContaining(codes))
  })

  it('does not warn about delays of the first two minutes', async () => {
    const client = await serve({
      figures: async () => ({
        ...FIGURES,
        stalledAccounts: 4,
        unownedAccounts: 1,
        greatestLagMs: 3_600_000,
        ageMs: { deliveries: 1_000_000, outbox: 1_000_000, events: 61_000 },
      }),
      eventLoop: () => ({ meanMs: 100, p99Ms: 300, maxMs: 900 }),
    })
    const codes = async () => (await client.get('/health')).json.data.warnings.filter(isAboutDelay)
    clock.advance(STARTED_MS - 1)
    expect(await codes()).toEqual([])
    clock.advance(1)
    expect(await codes()).toEqual([
      'sync_stalled',
      'sync_late',
      'accounts_unowned',
      'outbox_old',
      'deliveries_old',
      'events_old',
      'event_loop_slow',
    ])
  })

  it('shows no figures while they cannot be read', async () => {
    const down = await serve({ figures: () => Promise.reject(new Error('down')) })
    const { data } = (await api(down.url, 'reader').get('/health/detailed')).json
    expect(data).toMatchObject({ instances: null, sync: null, outbox: null, deliveries: null, events: null })
  })
})

describe('GET /health/live and /health/ready', () => {
  it('are alive in every phase, and ready only while the service accepts requests', async () => {
    let phase: ReturnType<HealthDeps['phase']> = 'migrating'
    const client = await serve({ phase: () => phase })
    expect((await client.get('/health/live')).json).toEqual({ success: true, data: { status: 'alive' } })
    const migrating = await client.get('/health/ready')
    expect([migrating.status, migrating.json.error.code]).toEqual([503, 'not_ready'])
    expect(migrating.headers.get('retry-after')).toBe('5')
    phase = 'ready'
    expect((await client.get('/health/ready')).status).toBe(200)
    phase = 'draining'
    expect((await client.get('/health/ready')).json.error.message).toBe('The service is draining.')
    expect((await client.get('/health/live')).status).toBe(200)
  })

  it('are not ready while the database does not respond', async () => {
    const client = await serve({ db: { engine: 'postgres', ping: fails } })
    expect((await client.get('/health/ready')).status).toBe(503)
  })
})

describe('the startup server', () => {
  it('is alive and not ready while the service migrates, then hands over its port', async () => {
    const startup = await startupServer({
      host: '127.0.0.1',
      port: 0,
      publicUrl: 'http://localhost:8080',
      ids: idGenerator(clock),
      phase: () => 'migrating',
      facts: {
        cache: 'redis',
        queue: 'redis',
        pubsub: 'redis',
        licence: { plan: 'team', accountLimit: 5 },
        isGmailPushConfigured: true,
      },
    })
    const client = api(`http://127.0.0.1:${startup.port}`)
    expect((await client.get('/health/live')).json.data).toEqual({ status: 'alive' })
    const health = await client.get('/health?verbose')
    expect([health.status, health.json.success]).toEqual([200, true])
    const summary = (await (await serve()).get('/health')).json.data
    expect(Object.keys(health.json.data)).toEqual(Object.keys(summary))
    expect(health.json.data).toMatchObject({
      status: 'degraded',
      services: { database: false, cache: false, queue: false, pubsub: false },
      cache: { provider: 'redis' },
      license: { plan: 'team', effectiveAccountLimit: 5, currentAccounts: null },
      onboarding: { canProceed: false },
      memory: { percentage: expect.any(Number) },
    })
    expect((await client.get('/health/ready')).status).toBe(503)
    const response = await client.post('/accounts', {})
    expect([response.status, response.json.error.message]).toEqual([503, 'The service is migrating.'])
    expect(response.json.requestId).toBe(response.headers.get('x-request-id'))
    await startup.close()
    await startup.close()
    app = testServer()
    await app.listen({ port: startup.port, host: '127.0.0.1' })
  })
})
