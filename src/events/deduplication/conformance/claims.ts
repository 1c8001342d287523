import { describe, expect, it } from 'vitest'
import type { Claim, Claims } from '../key-claims.ts'

/** A process that claims keys. */
export interface Claimant extends Claims {
  /** Claims, then crashes before it uses the result. */
  die: Claims['claim']
}

/** The tests of every implementation. `makeWorld` returns a function with which processes join a new, empty store. */
export function describeClaims(title: string, makeWorld: () => Promise<() => Promise<Claimant>>): void {
  const TTL_MS = 60_000
  const START = 1_700_000_000_000
  const want = (eventId: string, key: string, seconds = 0): Claim => ({ key, eventId, atMs: START + seconds * 1000 })
  const openWorld = async () => (await makeWorld())()
  const two = async () => {
    const join = await makeWorld()
    return [await join(), await join()] as const
  }

  describe(title, () => {
    it('grants a key once and returns its holder', async () => {
      const [first, second] = await two()
      expect(await first.claim([want('evt_1', 'a'), want('evt_2', 'b')], TTL_MS)).toEqual(['evt_1', 'evt_2'])
      expect(await second.claim([want('evt_3', 'a'), want('evt_4', 'c')], TTL_MS)).toEqual(['evt_1', 'evt_4'])
      expect(await first.claim([], TTL_MS)).toEqual([])
    })

    it('decides the claims of one call in their order', async () => {
      const claims = await openWorld()
      const claimed = [want('evt_1', 'a'), want('evt_2', 'a', 1), want('evt_3', 'b'), want('evt_4', 'a', 60)]
      expect(await claims.claim(claimed, TTL_MS)).toEqual(['evt_1', 'evt_1', 'evt_3', 'evt_4'])
      expect(await claims.claim([want('evt_5', 'a', 61)], TTL_MS)).toEqual(['evt_4'])
    })

    it('decides them in their order also while an earlier call holds the key', async () => {
      const claims = await openWorld()
      await claims.claim([want('evt_1', 'a')], TTL_MS)
      const claimed = [want('evt_2', 'a', 30), want('evt_3', 'a', 100), want('evt_4', 'a', 101)]
      expect(await claims.claim(claimed, TTL_MS)).toEqual(['evt_1', 'evt_3', 'evt_3'])
    })

    it('holds a key for ttlMs, measured by the times of the events', async () => {
      const claims = await openWorld()
      await claims.claim([want('evt_1', 'a')], TTL_MS)
      expect(await claims.claim([want('evt_2', 'a', 59.999)], TTL_MS)).toEqual(['evt_1'])
      expect(await claims.claim([want('evt_3', 'a', 60)], TTL_MS)).toEqual(['evt_3'])
    })

    it('keeps the lifetime of a granted key when the setting changes', async () => {
      const claims = await openWorld()
      await claims.claim([want('evt_1', 'a')], 300_000)
      expect(await claims.claim([want('evt_2', 'a', 100)], 60_000)).toEqual(['evt_1'])
      expect(await claims.claim([want('evt_3', 'a', 300)], 60_000)).toEqual(['evt_3'])
      expect(await claims.claim([want('evt_4', 'a', 360)], 300_000)).toEqual(['evt_4'])
    })

    it('grants an event the key that it holds', async () => {
      const [first, second] = await two()
      await first.claim([want('evt_1', 'a')], TTL_MS)
      expect(await second.claim([want('evt_1', 'a'), want('evt_2', 'a')], TTL_MS)).toEqual(['evt_1', 'evt_1'])
    })

    it('returns the same holders after a crash, also to later events', async () => {
      const [dying, next] = await two()
      const claimed = [want('evt_1', 'a'), want('evt_2', 'a', 70), want('evt_3', 'b'), want('evt_4', 'b', 10)]
      const holders = await dying.die(claimed, TTL_MS)
      expect(holders).toEqual(['evt_1', 'evt_2', 'evt_3', 'evt_3'])
      const later = [want('evt_5', 'a', 71), want('evt_6', 'b', 20)]
      expect(await next.claim([...claimed, ...later], TTL_MS)).toEqual([...holders, 'evt_2', 'evt_3'])
    })

    it('grants each key to one of many concurrent calls', async () => {
      const [first, second] = await two()
      const keys = Array.from({ length: 40 }, (_, index) => `key ${index}`)
      const rounds = Array.from({ length: 10 }, (_, round) => {
        const claimed = keys.map((key) => want(`evt_${round}_${key}`, key))
        // Two opposite orders, which must not deadlock.
        return round % 2 === 0
          ? first.claim(claimed, TTL_MS)
          : second.claim(claimed.toReversed(), TTL_MS).then(backwards)
      })
      const holders = await Promise.all(rounds)
      for (const each of holders) expect(each).toEqual(holders[0])
    })

    it('accepts more claims than one statement carries', async () => {
      const [first, second] = await two()
      const claimed = Array.from({ length: 1000 }, (_, index) => want(`evt_${index}`, `key ${index}`))
      const ids = claimed.map(({ eventId }) => eventId)
      expect(await first.claim(claimed, TTL_MS)).toEqual(ids)
      const again = claimed.map((claim) => ({ ...claim, eventId: `again_${claim.eventId}` }))
      expect(await second.claim(again, TTL_MS)).toEqual(ids)
    })
  })
}

const backwards = <T>(items: T[]): T[] => items.toReversed()
