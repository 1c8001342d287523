import { expect, it, onTestFinished } from 'vitest'
import { anyAborted, untilAborted } from './abort.ts'
import { nextTurn } from './event-loop.ts'

it.each(['before the work began', 'while it ran'])(
  'takes over the failure of work that was aborted %s',
  async (when) => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    const others = process.listeners('unhandledRejection')
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', note)
    onTestFinished(() => {
      process.off('unhandledRejection', note)
      for (const listener of others) process.on('unhandledRejection', listener)
    })
    const controller = new AbortController()
    const failing = Promise.reject(new Error('the connection is closed'))
    if (when === 'before the work began') controller.abort(new Error('no longer owned'))
    const result = untilAborted(failing, controller.signal)
    controller.abort(new Error('no longer owned'))
    await expect(result).rejects.toThrow('no longer owned')
    await nextTurn()
    expect(unhandled).toEqual([])
  },
)

it('aborts with the first of several signals, and with its reason', () => {
  const [one, other] = [new AbortController(), new AbortController()]
  const { signal, done } = anyAborted([one.signal, other.signal], 60_000)
  onTestFinished(done)
  expect(signal.aborted).toBe(false)
  other.abort(new Error('no longer owned'))
  expect(signal.reason).toEqual(new Error('no longer owned'))
  one.abort(new Error('too late'))
  expect(signal.reason).toEqual(new Error('no longer owned'))
})

it('aborts at once with a signal that has aborted, and after its limit', async () => {
  expect(anyAborted([AbortSignal.abort(new Error('gone'))]).signal.reason).toEqual(new Error('gone'))
  const { signal } = anyAborted([], 1)
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' })
})

it('ignores signals once it is done', () => {
  const controller = new AbortController()
  const { signal, done } = anyAborted([controller.signal])
  done()
  controller.abort()
  expect(signal.aborted).toBe(false)
})
