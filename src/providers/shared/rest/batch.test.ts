import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../contract/index.ts'
import { inBatches } from './batch.ts'

const limited = (retryAfterMs = 0) => new ProviderError('rate_limited', 'slow down', { retryAfterMs })
const failed = () => new ProviderError('unavailable', 'out of order', { retryAfterMs: 0 })
const missing = () => new ProviderError('not_found', 'gone')
const items = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

/** Returns for each item what `respond` returns for it and for the number of its earlier requests. */
function batches(respond: (item: number, before: number) => string | ProviderError | undefined) {
  const sent: number[][] = []
  const options = {
    size: 4,
    doing: 'sending items',
    retry: { baseMs: 1, capMs: 1 },
    async send(requested: number[]) {
      const before = (item: number) => sent.flat().filter((candidate) => candidate === item).length
      const results = requested.map((item) => [item, respond(item, before(item))] as const)
      sent.push(requested)
      return new Map(results.flatMap(([item, result]) => (result === undefined ? [] : [[item, result] as const])))
    },
  }
  return { sent, options }
}

describe('requests in batches', () => {
  it('sends all items in as few requests as the size allows', async () => {
    const { sent, options } = batches((item) => `result ${item}`)
    expect([...(await inBatches(items(10), options)).values()]).toEqual(items(10).map((item) => `result ${item}`))
    expect(sent.map((part) => part.length)).toEqual([4, 4, 2])
  })

  it('sends rate-limited and missing items again, together with the rest', async () => {
    const { sent, options } = batches((item, before) => {
      if (before > 0 || item > 2) return 'yes'
      return item === 1 ? limited() : undefined
    })
    expect((await inBatches(items(6), { ...options })).size).toBe(6)
    expect(sent).toEqual([
      [1, 2, 3, 4],
      [5, 6, 1, 2],
    ])
  })

  it('returns a persistent error as the result of its item', async () => {
    const { options } = batches((item) => (item === 2 ? missing() : item === 3 ? failed() : 'yes'))
    const outcome = await inBatches(items(5), options)
    expect(
      [...outcome].sort(([one], [other]) => one - other).map(([, one]) => (one === 'yes' ? one : Object(one).kind)),
    ).toEqual(['yes', 'not_found', 'unavailable', 'yes', 'yes'])
  })

  it('throws a persistent limit, a long pause, and nothing but failures', async () => {
    const lasting = batches(() => limited())
    await expect(inBatches(items(8), lasting.options)).rejects.toMatchObject({ kind: 'rate_limited' })
    expect(lasting.sent).toHaveLength(3)
    const long = batches((item) => (item === 1 ? limited(60_000) : 'yes'))
    await expect(inBatches(items(8), long.options)).rejects.toMatchObject({ retryAfterMs: 60_000 })
    const down = batches(() => failed())
    await expect(inBatches(items(8), down.options)).rejects.toMatchObject({ kind: 'unavailable' })
  })

  describe('when a request fails as a whole', () => {
    /** A request with such an item fails. */
    function failing(...bad: number[]) {
      const { sent, options } = batches(() => 'yes')
      const send = async (requested: number[]) => {
        const received = await options.send(requested)
        if (requested.some((item) => bad.includes(item))) throw new ProviderError('unavailable', 'it failed (502)')
        return received
      }
      return { sent, options: { ...options, send, isolates: true } }
    }
    const kinds = (results: Map<number, unknown>) =>
      items(results.size).map((item) => Object(results.get(item)).kind ?? results.get(item))

    it('sends its items one by one, so that only the one at fault fails', async () => {
      const { sent, options } = failing(3)
      expect(kinds(await inBatches(items(6), options))).toEqual(['yes', 'yes', 'unavailable', 'yes', 'yes', 'yes'])
      expect(sent).toEqual([[1, 2, 3, 4], [1], [2], [3], [4], [5, 6]])
    })

    it('does the same when it succeeds and nothing but failures is in it', async () => {
      const { options } = batches(() => 'yes')
      const send = async (requested: number[]) =>
        new Map(
          requested.map((item) => [item, requested.includes(2) ? new ProviderError('unavailable', '502') : 'yes']),
        )
      const results = await inBatches(items(3), { ...options, send, isolates: true })
      expect(kinds(results)).toEqual(['yes', 'unavailable', 'yes'])
    })

    it('gives up after some failures, because the fault is then that of the provider', async () => {
      const { sent, options } = failing(...items(20))
      await expect(inBatches(items(20), { ...options, size: 20 })).rejects.toMatchObject({ kind: 'unavailable' })
      expect(sent).toHaveLength(6)
    })

    it('gives up in an outage that begins after a good request, too', async () => {
      const { sent, options } = failing(...items(40).slice(4))
      await expect(inBatches(items(40), options)).rejects.toMatchObject({ kind: 'unavailable' })
      expect(sent).toEqual([[1, 2, 3, 4], [5, 6, 7, 8], [5], [6], [7], [8], [9, 10, 11, 12], [9]])
    })

    /** A request with the item 1 fails, and the first `limits` requests for the item 2 alone exceed a rate limit. */
    function limiting({ limits, retryAfterMs = 0 }: { limits: number; retryAfterMs?: number }) {
      const { sent, options } = batches(() => 'yes')
      let refused = 0
      const send = async (requested: number[]) => {
        const received = await options.send(requested)
        if (requested.includes(1)) throw new ProviderError('unavailable', 'it failed (502)')
        const isRefused = requested.length === 1 && requested[0] === 2 && refused < limits
        if (!isRefused) return received
        refused += 1
        return new Map([[2, limited(retryAfterMs)]])
      }
      return { sent, options: { ...options, size: 3, send, isolates: true } }
    }

    it('stops sending them one by one at a rate limit, and sends the others later', async () => {
      const { sent, options } = limiting({ limits: 1 })
      expect(kinds(await inBatches([3, 1, 2, 4], options))).toEqual(['unavailable', 'yes', 'yes', 'yes'])
      expect(sent).toEqual([[3, 1, 2], [3], [1], [2], [4, 2]])
    })

    it('throws a rate limit that asks for a long pause', async () => {
      const { options } = limiting({ limits: 1, retryAfterMs: 60_000 })
      await expect(inBatches([3, 1, 2], options)).rejects.toMatchObject({ retryAfterMs: 60_000 })
    })

    it('gives up at a persistent rate limit', async () => {
      const { sent, options } = limiting({ limits: 100 })
      await expect(inBatches([2, 1], options)).rejects.toMatchObject({ kind: 'rate_limited' })
      expect(sent).toEqual([[2, 1], [2], [2, 1], [2], [2, 1], [2]])
    })

    it('repeats no change', async () => {
      const { sent, options } = failing(3)
      await expect(inBatches(items(6), { ...options, isolates: false })).rejects.toMatchObject({ kind: 'unavailable' })
      expect(sent).toHaveLength(1)
    })
  })

  it('ends with its signal', async () => {
    const giveUp = new AbortController()
    const { options } = batches(() => 'yes')
    const send = (requested: number[]) => {
      giveUp.abort(new Error('stopped'))
      return options.send(requested)
    }
    const asking = inBatches(items(8), { ...options, send, signal: giveUp.signal })
    await expect(asking).rejects.toThrow('stopped')
  })
})
