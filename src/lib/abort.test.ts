import { expect, it, onTestFinished } from 'vitest'
import { untilAborted } from './abort.ts'
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
