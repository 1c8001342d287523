import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { describeRedis } from '../../../test/kit/database/redis.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { watchedLog } from '../../platform/bus/conformance/bus.ts'
import { fixedClock } from '../../platform/time/clock.ts'
import { type Claimant, describeClaims } from './conformance/claims.ts'
import { databaseClaims } from './database-claims.ts'
import { redisClaims, sharedClaims } from './redis-claims.ts'

describeEachDatabase('deduplication keys', (open, engine) => {
  describeClaims('in rows', async () => {
    const place = await open.place()
    const shared = await open(place)
    return async (): Promise<Claimant> => {
      const db = engine === 'sqlite' ? shared : await open(place)
      return {
        claim: (claims, ttlMs) => db.transaction((tx) => databaseClaims(tx).claim(claims, ttlMs)),
        async die(claims, ttlMs) {
          let holders: string[] = []
          const dying = db.transaction(async (tx) => {
            holders = await databaseClaims(tx).claim(claims, ttlMs)
            throw new Error('killed')
          })
          await expect(dying).rejects.toThrow('killed')
          return holders
        },
      }
    }
  })
})

describeRedis('deduplication keys', (redis) => {
  describeClaims('in Redis', async () => {
    await redis.empty()
    return async (): Promise<Claimant> => {
      const { claim } = redisClaims(await redis.link())
      return { claim, die: claim }
    }
  })

  const CLAIM = { key: 'a', eventId: 'evt_1', atMs: 1_700_000_000_000 }

  it('expire in Redis', async () => {
    await redis.empty()
    const link = await redis.link()
    await redisClaims(link).claim([CLAIM], 60_000)
    const [key = ''] = await link.commands.keys('*')
    expect(key).toBe('posthorn:dedup:a')
    expect(await link.commands.pttl(key)).toBeGreaterThan(50_000)
    expect(await link.commands.pttl(key)).toBeLessThanOrEqual(60_000)
  })

  it('fall back to the database while Redis is away, with one warning, and return to Redis later', async () => {
    await redis.empty()
    const [clock, log] = [fixedClock(0), watchedLog()]
    const claims = sharedClaims({ redis: await redis.link(), clock, log })
    const claim = (eventId: string) => claims.claim([{ ...CLAIM, eventId }], 60_000)
    const away = ['Cannot store deduplication keys in Redis. The database stores them until Redis responds again.']
    expect(await claim('evt_1')).toEqual(['evt_1'])
    await redis.server.stop()
    await eventually(async () => {
      clock.advance(5000)
      expect(await claim('evt_2')).toBeUndefined()
    })
    clock.advance(5000)
    expect(await claim('evt_2')).toBeUndefined()
    expect(log.records).toEqual(away)
    await redis.server.start()
    expect(await claim('evt_3')).toBeUndefined()
    await eventually(async () => {
      clock.advance(5000)
      expect(await claim('evt_3')).toEqual(['evt_3'])
    })
    expect(log.records).toEqual(away)
  })

  it('fall back to the database while Redis hangs or its memory is full', async () => {
    await redis.empty()
    const [clock, log] = [fixedClock(0), watchedLog()]
    const link = await redis.link()
    const claims = sharedClaims({ redis: link, clock, log })
    const claim = (key: string) => claims.claim([{ ...CLAIM, key }], 60_000)
    redis.server.freeze()
    expect(await claim('a')).toBeUndefined()
    redis.server.thaw()
    await eventually(() => link.ping())
    clock.advance(5000)
    await link.commands.config('SET', 'maxmemory', '1')
    expect(await claim('b')).toBeUndefined()
    await link.commands.config('SET', 'maxmemory', '0')
    clock.advance(5000)
    expect(await claim('b')).toEqual(['evt_1'])
    expect(log.records).toHaveLength(1)
  })
})
