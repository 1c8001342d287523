import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import type { Log } from '../log/index.ts'
import type { Bus } from './bus.ts'

/** Each call opens the bus as one more process would. */
export type OpenBus = (log: Log) => Promise<Bus>

/** What every kind of bus does; its test file calls this with how to make a new one. */
export function describeBus(title: string, kind: { isShared: boolean }, world: () => Promise<OpenBus>): void {
  async function open(log = watchedLog()) {
    const bus = await (await world())(log)
    onTestFinished(() => bus.close())
    return { bus, log }
  }

  describe(title, () => {
    it('brings a hint to every listener of its topic in this process, and to no other', async () => {
      const { bus } = await open()
      const heard: string[] = []
      bus.subscribe('a', (payload) => heard.push(`a1 ${payload}`))
      bus.subscribe('a', (payload) => heard.push(`a2 ${payload}`))
      bus.subscribe('b', (payload) => heard.push(`b ${payload}`))
      bus.publish('a', 'x')
      await eventually(() => expect(heard).toEqual(['a1 x', 'a2 x']))
    })

    it('delivers after the publisher has gone on, never inside its call', async () => {
      const { bus } = await open()
      const order: string[] = []
      bus.subscribe('a', () => order.push('heard'))
      bus.publish('a')
      order.push('published')
      await eventually(() => expect(order).toEqual(['published', 'heard']))
    })

    it('delivers a hint without payload as an empty text', async () => {
      const { bus } = await open()
      const heard: unknown[] = []
      bus.subscribe('a', (payload) => heard.push(payload))
      bus.publish('a')
      await eventually(() => expect(heard).toEqual(['']))
    })

    it('stops calling a listener that unsubscribed, and only that one', async () => {
      const { bus } = await open()
      const heard: string[] = []
      const listener = (payload: string | undefined) => heard.push(payload ?? '')
      const stop = bus.subscribe('a', listener)
      bus.subscribe('a', listener)
      stop()
      stop()
      bus.publish('a', 'x')
      await eventually(() => expect(heard).toEqual(['x']))
    })

    it('goes on when a listener throws', async () => {
      const { bus, log } = await open()
      const heard: string[] = []
      bus.subscribe('a', () => {
        throw new Error('broken listener')
      })
      bus.subscribe('a', (payload) => heard.push(payload ?? ''))
      bus.publish('a', 'x')
      await eventually(() => expect(heard).toEqual(['x']))
      expect(log.records).toEqual(['A listener of the bus threw.'])
    })

    it('drops and logs a payload that is too large, without throwing', async () => {
      const { bus, log } = await open()
      const heard: string[] = []
      bus.subscribe('a', (payload) => heard.push(payload ?? ''))
      bus.publish('a', 'é'.repeat(2100))
      bus.publish('a', 'small')
      await eventually(() => expect(heard).toEqual(['small']))
      expect(log.records).toHaveLength(1)
    })

    it('carries any text within the limit', async () => {
      const { bus } = await open()
      const heard: unknown[] = []
      bus.subscribe('a', (payload) => heard.push(payload))
      const text = `line\nline 会議 ' " \\ ${'x'.repeat(3900)}`
      bus.publish('a', text)
      await eventually(() => expect(heard).toEqual([text]))
    })

    it('answers a ping, and closes twice', async () => {
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
      const [here, there] = [await openBus(watchedLog()), await openBus(watchedLog())]
      onTestFinished(async () => void (await Promise.all([here.close(), there.close()])))
      return { here, there }
    }

    it('brings a hint to the others, once to each', async () => {
      const { here, there } = await openTwo()
      const heard: string[] = []
      here.subscribe('a', (payload) => heard.push(`here ${payload}`))
      there.subscribe('a', (payload) => heard.push(`there ${payload}`))
      here.publish('a', 'x')
      await eventually(() => expect(heard).toEqual(['here x', 'there x']))
      there.publish('a', 'y')
      await eventually(() => expect(heard.toSorted()).toEqual(['here x', 'here y', 'there x', 'there y']))
    })

    it('loses none of many hints published at once', async () => {
      const { here, there } = await openTwo()
      const heard = new Set<string | undefined>()
      there.subscribe('a', (payload) => heard.add(payload))
      for (let i = 0; i < 1000; i += 1) here.publish('a', String(i % 500))
      await eventually(() => expect(heard.size).toBe(500))
    })
  })
}

/** Keeps the messages of warnings and errors. */
export function watchedLog(): Log & { records: string[] } {
  const records: string[] = []
  const keep = (message: string) => void records.push(message)
  const ignore = () => {}
  const log = { records, trace: ignore, debug: ignore, info: ignore, warn: keep, error: keep, fatal: keep }
  return Object.assign(log, { with: () => Object.assign(log, { with: () => watchedLog() }) })
}
