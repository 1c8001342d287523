import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { describeRedis } from '../../../test/kit/database/redis.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { startWorker } from '../../../test/kit/workers/start.ts'
import { hasRedis, startRedis } from '../../../test/servers/redis.ts'
import { watchedLog } from '../bus/conformance/bus.ts'
import { openRedis, serverProblem } from './link.ts'
import { luaScript } from './script.ts'

describeRedis('the link to Redis', (redis) => {
  it('waits at the start for a server that is not up yet, and logs it', async () => {
    await redis.server.stop()
    const log = watchedLog()
    const opening = openRedis({ url: redis.server.url, log })
    await eventually(() => expect(log.records).toEqual(['Redis (REDIS_URL) does not respond yet. Waiting for it.']))
    await redis.server.start()
    const link = await opening
    await link.ping()
    await link.close()
    await link.close()
  })

  it('fails when the server stays away, naming the setting and never the password', async () => {
    const url = `redis://:${redis.server.password.slice(0, 14)}@127.0.0.1:9`
    const error = await openRedis({ url, log: watchedLog(), startMs: 300 }).catch((caught: unknown) => caught)
    expect(String(error)).toMatch(/REDIS_URL.*does not respond.*ECONNREFUSED/)
    expect(String(error)).not.toContain('Passw0rd')
  })

  it('fails when the start is aborted', async () => {
    const aborted = AbortSignal.abort()
    await expect(openRedis({ url: 'redis://127.0.0.1:9', log: watchedLog() }, aborted)).rejects.toThrow('REDIS_URL')
  })

  it('does not wait after a wrong password', async () => {
    const url = redis.server.url.replace('redis-', 'other-')
    await expect(openRedis({ url, log: watchedLog() })).rejects.toThrow(/Cannot use Redis.*WRONGPASS/)
  })

  it('rejects commands at once while the server is away, then reconnects', async () => {
    const log = watchedLog()
    const link = await redis.link(log)
    await redis.server.stop()
    await eventually(() => expect(log.records).toHaveLength(1))
    // A command that was sent would wait for a response first.
    await expect(link.ping()).rejects.not.toThrow('does not respond')
    await redis.server.start()
    await eventually(() => link.ping())
  })

  it('rejects commands in time while the server hangs', async () => {
    const link = await redis.link()
    redis.server.freeze()
    await expect(link.ping()).rejects.toThrow('does not respond')
    redis.server.thaw()
    await eventually(() => link.ping())
  })

  it('rejects a ping when the memory of the server is full', async () => {
    const link = await redis.link()
    await link.commands.config('SET', 'maxmemory', '1')
    await expect(link.ping()).rejects.toThrow('OOM')
    await link.commands.config('SET', 'maxmemory', '0')
    await link.ping()
  })

  it('reconnects after a server had a wrong password for a while', async () => {
    const log = watchedLog()
    const link = await redis.link(log)
    await redis.server.stop()
    await redis.server.start('another-password')
    await eventually(() => expect(log.records).toHaveLength(1))
    await expect(link.ping()).rejects.toThrow()
    await redis.server.stop()
    await redis.server.start()
    await eventually(() => link.ping())
    expect(log.records).toEqual([
      'Redis (REDIS_URL) is unavailable. The service continues with reduced functionality and reconnects.',
    ])
  })

  it('runs a script that the server has not cached', async () => {
    const link = await redis.link()
    const twice = luaScript('return {KEYS[1], ARGV[1] * 2}')
    await redis.server.stop()
    await redis.server.start()
    await eventually(() => link.ping())
    expect(await twice(link.commands, ['k'], [21])).toEqual(['k', 42])
    expect(await twice(link.commands, ['k'], [4])).toEqual(['k', 8])
  })
})

describe.skipIf(!hasRedis)('the link to Redis over TLS', () => {
  it('rejects an untrusted certificate at once', async () => {
    const server = await startRedis({ tls: true })
    onTestFinished(() => server.close())
    await expect(openRedis({ url: server.url, log: watchedLog() })).rejects.toThrow(
      /Cannot use Redis.*self-signed certificate/,
    )
  })

  it('connects when the system trusts the certificate', async () => {
    const server = await startRedis({ tls: true })
    onTestFinished(() => server.close())
    const child = startWorker('redis-ping-worker', [server.url], { NODE_EXTRA_CA_CERTS: server.certificateFile })
    const [code] = await once(child, 'exit')
    expect(code).toBe(0)
  })
})

describe('the check of a server', () => {
  it('rejects old versions and warns about an eviction policy', () => {
    expect(serverProblem('redis_version:7.0.15\r\nmaxmemory_policy:noeviction\r\n')).toBeUndefined()
    expect(serverProblem('redis_version:6.0.16\r\n')).toMatchObject({ isFatal: true })
    expect(serverProblem('redis_version:7.2.4\r\nmaxmemory_policy:allkeys-lru\r\n')).toMatchObject({ isFatal: false })
    expect(serverProblem('nothing to see')).toBeUndefined()
  })
})
