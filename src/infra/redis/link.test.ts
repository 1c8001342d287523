import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { describeRedis } from '../../../test/kit/redis.ts'
import { hasRedis, startRedis } from '../../../test/servers/redis.ts'
import { watchedLog } from '../bus/conformance.ts'
import { openRedis } from './link.ts'
import { luaScript } from './script.ts'
import { serverProblem } from './server.ts'

describeRedis('the link to Redis', (redis) => {
  it('waits at the start for a server that is still coming, and says so', async () => {
    await redis.server.stop()
    const log = watchedLog()
    const opening = openRedis({ url: redis.server.url, log })
    await eventually(() => expect(log.records).toEqual(['Redis (REDIS_URL) does not answer yet; waiting for it.']))
    await redis.server.start()
    const link = await opening
    await link.ping()
    await link.close()
    await link.close()
  })

  it('gives up when the server does not come, naming the setting and never the password', async () => {
    const url = `redis://:${redis.server.password.slice(0, 14)}@127.0.0.1:9`
    const error = await openRedis({ url, log: watchedLog(), startMs: 300 }).catch((caught: unknown) => caught)
    expect(String(error)).toMatch(/REDIS_URL.*does not answer.*ECONNREFUSED/)
    expect(String(error)).not.toContain('Passw0rd')
  })

  it('gives up when the start is aborted', async () => {
    const aborted = AbortSignal.abort()
    await expect(openRedis({ url: 'redis://127.0.0.1:9', log: watchedLog() }, aborted)).rejects.toThrow('REDIS_URL')
  })

  it('does not wait after a wrong password', async () => {
    const url = redis.server.url.replace('redis-', 'other-')
    await expect(openRedis({ url, log: watchedLog() })).rejects.toThrow(/refuses: WRONGPASS/)
  })

  it('rejects commands at once while the server is away, and repairs itself', async () => {
    const log = watchedLog()
    const link = await redis.link(log)
    await redis.server.stop()
    await eventually(() => expect(log.records).toHaveLength(1))
    const startedAt = performance.now()
    await expect(link.ping()).rejects.toThrow()
    expect(performance.now() - startedAt).toBeLessThan(2000)
    await redis.server.start()
    await eventually(() => link.ping())
  })

  it('answers within its time while the server hangs', async () => {
    const link = await redis.link()
    redis.server.freeze()
    await expect(link.ping()).rejects.toThrow('does not answer')
    redis.server.thaw()
    await eventually(() => link.ping())
  })

  it('says that a server is unwell which answers and takes nothing, its memory being full', async () => {
    const link = await redis.link()
    await link.commands.config('SET', 'maxmemory', '1')
    await expect(link.ping()).rejects.toThrow('OOM')
    await link.commands.config('SET', 'maxmemory', '0')
    await link.ping()
  })

  it('repairs itself after a server that came back with another password', async () => {
    const log = watchedLog()
    const link = await redis.link(log)
    await redis.server.stop()
    await redis.server.start('another-password')
    await eventually(() => expect(log.records).toHaveLength(1))
    await expect(link.ping()).rejects.toThrow()
    await redis.server.stop()
    await redis.server.start()
    await eventually(() => link.ping())
    expect(log.records).toEqual(['Redis is out of reach; the service goes on with less, and reconnects.'])
  })

  it('runs a script on a server that has forgotten it', async () => {
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
  it('trusts no certificate that nobody signed, and does not wait for a better one', async () => {
    const server = await startRedis({ tls: true })
    onTestFinished(() => server.close())
    await expect(openRedis({ url: server.url, log: watchedLog() })).rejects.toThrow(/refuses: self-signed certificate/)
  })

  it('speaks TLS when the system trusts the certificate', async () => {
    const server = await startRedis({ tls: true })
    onTestFinished(() => server.close())
    const child = spawn(process.execPath, ['--import', 'tsx', 'test/kit/redis-ping-worker.ts', server.url], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: server.certificateFile },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    const [code] = await once(child, 'exit')
    expect(code).toBe(0)
  })
})

describe('the look at a server', () => {
  it('refuses what is too old, and warns of a policy that forgets', () => {
    expect(serverProblem('redis_version:7.0.15\r\nmaxmemory_policy:noeviction\r\n')).toBeUndefined()
    expect(serverProblem('redis_version:6.0.16\r\n')).toMatchObject({ isFatal: true })
    expect(serverProblem('redis_version:7.2.4\r\nmaxmemory_policy:allkeys-lru\r\n')).toMatchObject({ isFatal: false })
    expect(serverProblem('nothing to see')).toBeUndefined()
  })
})
