import { expect, it } from 'vitest'
import { describeRedis } from '../../../test/kit/redis.ts'
import { ledger } from './redis-ledger.ts'

describeRedis('the ledger of the queue in Redis', (redis) => {
  it('begins a run only for whoever holds the lock of its job', async () => {
    await redis.empty()
    const link = await redis.link()
    const book = ledger(link, link.commands)
    await book.note('lane', [{ subject: 'a', delayMs: 0 }])
    // As after a restart that forgot everything: the new job is locked by another, or not yet by anybody.
    expect(await book.begin('lane', 'a', 'old', 'lock')).toBe('lost')
    await link.commands.set('lock', 'new')
    expect(await book.begin('lane', 'a', 'old', 'lock')).toBe('lost')
    expect(await book.begin('lane', 'a', 'new', 'lock')).toBe(0)
    expect(await book.begin('lane', 'a', 'old', 'lock')).toBe('lost')
    const ending = { subject: 'a', outcome: 'completed', nextMs: null, error: null } as const
    expect(await book.end('lane', 'new', ending)).toEqual({ kind: 'over' })
    expect(await book.begin('lane', 'a', 'new', 'lock')).toBeUndefined()
  })
})
