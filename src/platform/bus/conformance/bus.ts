import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../../test/kit/eventually.ts'
import type { Log } from '../../log/index.ts'
import type { Bus } from '../bus.ts'

/** Each call opens the bus for one more process. */
type OpenBus = (log: Log) => Promise<Bus>

/** The tests of every bus. `world` creates a new one. */
export function describeBus(title: string, kind: { isShared: boolean }, world: () => Promise<OpenBus>): void {
  async function open(log = watchedLog()) {
    const bus = await (await world())(log)
    onTestFinished(() => bus.close())
    return { bus, log }
  }

  describe(title, () => {
    it('delivers a hint to every listener of its topic, and to no other', async () => {
      const { bus } = await open()
      const received: string[] = []
      bus.subscribe('a', (payload) => received.push(`a1 ${payload}`))
      bus.subscribe('a', (payload) => received.push(`a2 ${payload}`))
      bus.subscribe('b', (payload) => received.push(`b ${payload}`))
      bus.publish('a', 'x')
      await eventually(() => expect(received).toEqual(['a1 x', 'a2 x']))
    })

    it('delivers after the publish call, never inside it', async () => {
      const { bus } = await open()
      const order: string[] = []
      bus.subscribe('a', () => order.push('received'))
      bus.publish('a')
      order.push('published')
      await eventually(() => expect(order).toEqual(['published', 'received']))
    })

    it('delivers a hint without payload as an empty text', async () => {
      const { bus } = await open()
      const received: unknown[] = []
      bus.subscribe('a', (payload) => received.push(payload))
      bus.publish('a')
      await eventually(() => expect(received).toEqual(['']))
    })

    it('stops calling a listener that unsubscribed, and only that one', async () => {
      const { bus } = await open()
      const received: string[] = []
      const listener = (payload: string | undefined) => received.push(payload ?? '')
      const stop = bus.subscribe('a', listener)
      bus.subscribe('a', listener)
      stop()
      stop()
      bus.publish('a', 'x')
      await eventually(() => expect(received).toEqual(['x']))
    })

    it('continues when a listener throws', async () => {
      const { bus, log } = await open()
      const received: string[] = []
      bus.subscribe('a', () => {
        throw new Error('broken listener')
      })
      bus.subscribe('a', (payload) => received.push(payload ?? ''))
      bus.publish('a', 'x')
      await eventually(() => expect(received).toEqual(['x']))
      expect(log.records).toEqual(['A listener of the bus threw.'])
    })

    it('drops and logs an oversized payload without throwing', async () => {
      const { bus, log } = await open()
      const received: string[] = []
      bus.subscribe('a', (payload) => received.push(payload ?? ''))
      bus.publish('a', 'é'.repeat(2100))
      bus.publish('a', 'small')
      await eventually(() => expect(received).toEqual(['small']))
      expect(log.records).toHaveLength(1)
    })

    it('carries any text within the limit', async () => {
      const { bus } = await open()
      const received: unknown[] = []
      bus.subscribe('a', (payload) => received.push(payload))
      const text = `line\nline 会議 ' " \\ ${'x'.repeat(3900)}`
      bus.publish('a', text)
      await eventually(() => expect(received).toEqual([text]))
    })

    it('responds to a ping and closes twice', async () => {
      const { bus } = await open()
      await bus.ping()
      await bus.close()
      await bus.close()
      bus.publish('a', 'after the end')
    })
  })

  if (!kind.isShared) return
  describe(`${title}, between processes`, () => {
    async function openTwo() {
      const openBus = await world()
      const [first, second] = [await openBus(watchedLog()), await openBus(watchedLog())]
      onTestFinished(async () => void (await Promise.all([first.close(), second.close()])))
      return { first, second }
    }

    it('delivers a hint once to every process', async () => {
      const { first, second } = await openTwo()
      const received: string[] = []
      first.subscribe('a', (payload) => received.push(`here ${payload}`))
      second.subscribe('a', (payload) => received.push(`there ${payload}`))
      first.publish('a', 'x')
      await eventually(() => expect(received).toEqual(['here x', 'there x']))
      second.publish('a', 'y')
      await eventually(() => expect(received.toSorted()).toEqual(['here x', 'here y', 'there x', 'there y']))
    })

    it('loses none of many hints published at once', async () => {
      const { first, second } = await openTwo()
      const received = new Set<string | undefined>()
      second.subscribe('a', (payload) => received.add(payload))
      for (let i = 0; i < 1000; i += 1) first.publish('a', String(i % 500))
      await eventually(() => expect(received.size).toBe(500))
    })
  })
}

/** Collects the messages of warnings and errors. */
export function watchedLog(): Log & { records: string[] } {
  const records: string[] = []
  const keep = (message: string) => void records.push(message)
  const ignore = () => {}
  const log = { records, trace: ignore, debug: ignore, info: ignore, warn: keep, error: keep, fatal: keep }
  return Object.assign(log, { with: () => Object.assign(log, { with: () => watchedLog() }) })
}
