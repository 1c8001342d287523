import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { generate } from 'selfsigned'
import { describe, expect, it, onTestFinished } from 'vitest'
import { closing } from '../../test/kit/closing.ts'
import { databases, describePostgres } from '../../test/kit/database/database.ts'
import { administer, databaseUrl } from '../../test/kit/database/postgres-server.ts'
import { describeRedis } from '../../test/kit/database/redis.ts'
import { api } from '../../test/kit/http/http.ts'
import { startService } from '../../test/kit/service/service.ts'
import { freePort } from '../../test/servers/free-port.ts'
import { startGoogle } from '../../test/servers/google.ts'
import { listening } from '../../test/servers/listener.ts'
import { startMicrosoft } from '../../test/servers/microsoft.ts'
import { loadConfig } from '../config/index.ts'
import { type CheckResult, runChecks } from '../operations/doctor/index.ts'
import { generateKeyRing } from '../platform/crypto/seal.ts'
import { type Clock, systemClock } from '../platform/time/clock.ts'
import { type DoctorOptions, doctor } from './doctor.ts'

const KEY = 'k'.repeat(32)
const open = databases('sqlite')

/** The results of the checks with these settings, by name. `only` runs those whose names begin with one of the words. */
async function examine(
  environment: Record<string, string | undefined>,
  { only, timeoutMs, ...options }: DoctorOptions & { only?: string[]; timeoutMs?: number } = {},
) {
  const folder = environment.DATA_DIR ?? (await temporaryFolder())
  const { config } = loadConfig({ environment: { DATA_DIR: folder, ...environment }, folder })
  let results: CheckResult[] = []
  // A machine that pauses for seconds makes healthy checks fail, as it should.
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    const { checks, close } = doctor(config, options)
    const chosen = checks.filter(({ name }) => only?.some((word) => name.startsWith(word)) ?? true)
    results = await runChecks(chosen, timeoutMs).finally(close)
    if (timeoutMs !== undefined || !results.some(isLate)) break
  }
  for (const { status, message, remedy } of results) {
    expect(message).not.toContain('hunter22')
    if (status === 'failed' || status === 'warning') expect([message, remedy?.length]).not.toEqual([message, undefined])
  }
  return Object.fromEntries(results.map((result) => [result.name, result]))
}

const isLate = ({ message }: CheckResult) => /no response|did not end|timed out|timeout/.test(message)

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-doctor-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const summarise = (results: Record<string, CheckResult>) =>
  Object.fromEntries(Object.entries(results).map(([name, { status }]) => [name, status]))

describe('doctor', () => {
  it('finds nothing wrong before the first start, and leaves nothing behind', async () => {
    const folder = await temporaryFolder()
    const results = await examine({ DATA_DIR: join(folder, 'data') })
    expect(Object.values(results).filter(({ status }) => status === 'failed')).toEqual([])
    expect(summarise(results)).toMatchObject({
      database: 'ok',
      migrations: 'skipped',
      'encryption keys': 'skipped',
      redis: 'skipped',
      tls: 'skipped',
      'gmail credentials': 'skipped',
      webhooks: 'skipped',
      clock: 'skipped',
    })
    await expect(rm(join(folder, 'data'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('examines a running service from another process, and its endpoints', async () => {
    const place = await open.place()
    const port = await freePort()
    const publicUrl = `http://127.0.0.1:${port}`
    const environment = { DATA_DIR: place.dataDir, PUBLIC_URL: publicUrl, PORT: String(port), HOST: '127.0.0.1' }
    const service = await startService({ place, environment })
    onTestFinished(() => service.stop())
    const silent = await listening(() => {})
    onTestFinished(() => silent.close())
    const closed = await freePort()
    const client = api(service.url, service.key)
    const ids = []
    for (const url of [`http://127.0.0.1:${silent.port}/hook`, `http://127.0.0.1:${closed}/`]) {
      ids.push((await client.post('/webhooks/endpoints', { url })).json.id)
    }
    const only = ['database', 'migrations', 'encryption', 'service', 'public url', 'webhook']
    const results = await examine(environment, { only })
    expect(summarise(results)).toEqual({
      database: 'ok',
      migrations: 'ok',
      'encryption keys': 'ok',
      service: 'ok',
      'public url': 'ok',
      webhooks: 'ok',
      [`webhook ${ids[1]}`]: 'failed',
    })
    expect(results.webhooks?.message).toBe('1 of 2 active endpoints accept connections.')
    expect(results[`webhook ${ids[1]}`]?.message).toContain('ECONNREFUSED')

    const strict = await examine(
      { ...environment, PRIVATE_TARGETS: 'none', ENCRYPTION_KEYS: generateKeyRing('k9') },
      { only },
    )
    expect(strict[`webhook ${ids[0]}`]).toMatchObject({
      status: 'failed',
      remedy: expect.stringContaining('PRIVATE_TARGETS'),
    })
    await rm(join(place.dataDir, 'encryption-keys'))
    const lost = await examine({ ...environment, ENCRYPTION_KEYS: generateKeyRing('k9') }, { only: ['encryption'] })
    expect(lost['encryption keys']).toMatchObject({ status: 'failed', message: expect.stringContaining('do not open') })
    await service.stop()
    expect(summarise(await examine(environment, { only: ['service', 'public url'] }))).toEqual({
      service: 'skipped',
      'public url': 'skipped',
    })
  })

  it('sees that the public URL leads elsewhere', async () => {
    const place = await open.place()
    const service = await startService({ place })
    onTestFinished(() => service.stop())
    const other = await startService()
    onTestFinished(() => other.stop())
    const stranger = await plainServer('<html>')
    const only = ['public url']
    const of = async (url: string) =>
      (await examine({ DATA_DIR: place.dataDir, PUBLIC_URL: url }, { only }))['public url']
    expect(await of(other.url)).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('another Posthorn'),
    })
    expect(await of(stranger)).toMatchObject({ status: 'failed', message: expect.stringContaining('not this service') })
    expect(await of(`http://127.0.0.1:${await freePort()}`)).toMatchObject({ status: 'failed' })
    expect(await of(service.url)).toMatchObject({ status: 'ok' })
  })

  it('judges the certificate of the public URL', async () => {
    const now = Date.now()
    const day = 86_400_000
    for (const [fromMs, untilMs, status, message] of [
      [now - 9 * day, now - 2 * day, 'failed', 'has expired'],
      [now - 9 * day, now + 5 * day, 'warning', 'valid for 4 more days'],
      [now - 9 * day, now + 90 * day, 'ok', 'valid for 89 more days'],
    ] as const) {
      const { url, cert } = await tlsServer(fromMs, untilMs)
      const results = await examine({ PUBLIC_URL: url }, { only: ['tls', 'dns'], ca: cert })
      expect(results.tls).toMatchObject({ status, message: expect.stringContaining(message) })
      expect(results.dns).toMatchObject({ status: 'ok' })
      const untrusted = await examine({ PUBLIC_URL: url }, { only: ['tls'] })
      expect(untrusted.tls).toMatchObject({ status: 'failed' })
    }
    const plain = await plainServer('')
    const none = await examine({ PUBLIC_URL: plain.replace('http:', 'https:') }, { only: ['tls'] })
    expect(none.tls).toMatchObject({ status: 'failed', message: expect.stringContaining('no TLS') })
    const unknown = await examine({ PUBLIC_URL: 'https://posthorn.invalid' }, { only: ['dns', 'tls'] })
    expect(unknown.tls).toMatchObject({ status: 'skipped' })
    expect(unknown.dns).toMatchObject({ status: 'failed', message: expect.stringContaining('does not resolve') })
  })

  it('asks Google and Microsoft about the client, the redirect address and the time', async () => {
    const [google, microsoft] = [closing(await startGoogle()), closing(await startMicrosoft())]
    const environment = { ...google.settings, ...microsoft.settings, PUBLIC_URL: 'http://localhost:8080' }
    const redirectUri = (provider: string) => `http://localhost:8080/providers/${provider}/callback`
    const only = ['gmail cred', 'gmail redirect', 'microsoft', 'clock']
    const unregistered = await examine(environment, { only })
    expect(unregistered['gmail redirect address']).toMatchObject({
      status: 'failed',
      remedy: expect.stringContaining(`exactly this address: ${redirectUri('gmail')}`),
    })
    expect(unregistered['microsoft redirect address']).toMatchObject({ status: 'failed' })
    google.allowRedirect(redirectUri('gmail'))
    microsoft.allowRedirect(redirectUri('microsoft'))
    expect(summarise(await examine(environment, { only }))).toEqual({
      'gmail credentials': 'ok',
      'gmail redirect address': 'ok',
      'microsoft credentials': 'ok',
      'microsoft redirect address': 'ok',
      clock: 'ok',
    })

    const wrong = { GOOGLE_CLIENT_SECRET: 'hunter22', MICROSOFT_CLIENT_SECRET: 'hunter22' }
    const refused = await examine({ ...environment, ...wrong }, { only })
    expect(refused['gmail credentials']).toMatchObject({
      status: 'failed',
      message: 'Google refuses GOOGLE_CLIENT_ID or GOOGLE_CLIENT_SECRET (invalid_client).',
    })
    expect(refused['microsoft credentials']?.remedy).toContain('not its id')
    const incomplete = await examine({ ...environment, GOOGLE_CLIENT_SECRET: undefined }, { only })
    expect(incomplete['gmail credentials']).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(/^Set GOOGLE/),
    })

    for (const [aheadMs, status] of [
      [20_000, 'warning'],
      [-90_000, 'failed'],
    ] as const) {
      const { clock } = await examine(environment, { only: ['clock'], clock: shifted(aheadMs) })
      expect(clock).toMatchObject({ status, message: expect.stringContaining('Google') })
      expect(clock?.message).toContain(aheadMs > 0 ? 'ahead of' : 'behind')
    }

    const push = await examine({ ...environment, ...google.pushSettings }, { only: ['gmail push'] })
    expect(push['gmail push']).toMatchObject({ status: 'ok' })
    const unknown = { ...google.pushSettings, PUBSUB_SUBSCRIPTION_NAME: 'nobody' }
    const other = await examine({ ...environment, ...unknown }, { only: ['gmail push'] })
    expect(other['gmail push']).toMatchObject({ status: 'failed', remedy: expect.stringContaining('PUBSUB_') })

    const service = await startService({ environment })
    onTestFinished(() => service.stop())
    const client = api(service.url, service.key)
    const { json } = await client.post('/providers/gmail/validate')
    expect(json).toMatchObject({
      success: true,
      checks: [{ name: 'gmail credentials', ok: true, remedy: null }, { ok: true }],
    })
    await google.close()
    expect((await client.post('/providers/gmail/validate')).json).toMatchObject({
      success: false,
      checks: [{ ok: false }, {}],
    })
  })

  it('does not wait for a part that does not respond', async () => {
    const silent = await listening(() => {})
    onTestFinished(() => silent.close())
    const at = `127.0.0.1:${silent.port}`
    const environment = {
      DATABASE_URL: `postgres://joe:hunter22@${at}/db`,
      SERVICE_API_KEY: KEY,
      REDIS_URL: `redis://:hunter22@${at}`,
      PUBLIC_URL: `https://${at}`,
      GOOGLE_CLIENT_ID: 'id',
      GOOGLE_CLIENT_SECRET: 'hunter22',
      GOOGLE_TOKEN_URL: `http://${at}/token`,
      GOOGLE_AUTH_URL: `http://${at}/auth`,
    }
    const results = await examine(environment, { timeoutMs: 500 })
    expect(summarise(results)).toMatchObject({
      database: 'failed',
      redis: 'failed',
      tls: 'failed',
      'gmail credentials': 'failed',
      dns: 'ok',
    })
    expect(results.redis?.message).toBe('The check did not end within 0.5 s.')
  })
})

describePostgres('doctor on PostgreSQL', (openPostgres) => {
  it('reports connections, privileges, migrations, and the clock', async () => {
    const { databaseUrl: url = '' } = await openPostgres.place()
    const only = ['database', 'migrations', 'data folder', 'service', 'clock', 'webhooks', 'encryption']
    const environment = { DATABASE_URL: url, SERVICE_API_KEY: KEY }
    expect(summarise(await examine(environment, { only }))).toEqual({
      database: 'ok',
      migrations: 'ok',
      'database privileges': 'ok',
      'database connections': 'ok',
      'encryption keys': 'ok',
      'data folder': 'skipped',
      service: 'skipped',
      webhooks: 'skipped',
      clock: 'ok',
    })
    const off = await examine(environment, { only: ['clock'], clock: shifted(3_600_000) })
    expect(off.clock).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(/ 3[56]\d\d s ahead of that of PostgreSQL/),
    })
    const many = await examine({ ...environment, DATABASE_MAX_CONNECTIONS: '1000' }, { only: ['database conn'] })
    expect(many['database connections']).toMatchObject({ status: 'warning' })

    const user = `doctor_${process.pid}_${Math.floor(performance.now())}`
    await administer(url, `create role "${user}" login password 'hunter22'`)
    onTestFinished(() => administer(url, `drop role "${user}"`))
    const weak = new URL(url)
    weak.username = user
    weak.password = 'hunter22'
    const refused = await examine({ ...environment, DATABASE_URL: weak.href }, { only: ['database priv'] })
    expect(refused['database privileges']).toMatchObject({
      status: 'failed',
      remedy: `In PostgreSQL, run: grant all on schema "public" to "${user}"`,
    })
    weak.password = 'hunter22-wrong'
    const wrong = await examine({ ...environment, DATABASE_URL: weak.href }, { only: ['database', 'migrations'] })
    expect(wrong.database).toMatchObject({ status: 'failed', remedy: expect.stringContaining('DATABASE_URL') })
    expect(wrong.migrations).toMatchObject({ status: 'skipped' })

    await administer(url, `delete from migrations where name = (select max(name) from migrations)`)
    const pending = await examine(environment, { only: ['migrations', 'service'] })
    expect(summarise(pending)).toEqual({ migrations: 'warning', service: 'skipped' })
    const gone = await examine({ ...environment, DATABASE_URL: databaseUrl(url, 'nothing') }, { only: ['database'] })
    expect(gone.database).toMatchObject({ status: 'failed', message: expect.stringContaining('nothing') })
  })
})

describeRedis('doctor on Redis', (redis) => {
  it('reports a policy that evicts jobs, and a refused password', async () => {
    const only = ['redis', 'clock']
    const environment = { REDIS_URL: redis.server.url }
    expect(summarise(await examine(environment, { only }))).toEqual({ redis: 'ok', 'redis policy': 'ok', clock: 'ok' })
    const connection = new Redis(redis.server.url)
    await connection.config('SET', 'maxmemory-policy', 'allkeys-lru')
    connection.disconnect()
    const evicting = await examine(environment, { only, clock: shifted(-10_000) })
    expect(evicting['redis policy']).toMatchObject({ status: 'warning', remedy: expect.stringContaining('noeviction') })
    expect(evicting.clock).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('behind that of Redis'),
    })
    const url = new URL(redis.server.url)
    url.password = 'hunter22'
    const refused = await examine({ REDIS_URL: url.href }, { only: ['redis'] })
    expect(summarise(refused)).toEqual({ redis: 'failed', 'redis policy': 'skipped' })
  })
})

const shifted = (aheadMs: number): Clock => ({ ...systemClock, now: () => systemClock.now() + aheadMs })

async function tlsServer(fromMs: number, untilMs: number) {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    notBeforeDate: new Date(fromMs),
    notAfterDate: new Date(untilMs),
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  })
  const server = createTlsServer({ cert, key }, (_request, response) => response.end())
  return { cert, url: (await serving(server)).replace('http://127.0.0.1', 'https://localhost') }
}

const plainServer = (body: string) => serving(createServer((_request, response) => response.end(body)))

async function serving(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
