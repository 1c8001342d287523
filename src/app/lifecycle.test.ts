import { describe, expect, it, vi } from 'vitest'
import { idGenerator } from '../platform/ids.ts'
import { type LogEntry, logger, redactor } from '../platform/log/index.ts'
import { fixedClock } from '../platform/time/clock.ts'
import { type App, run, type SignalName } from './lifecycle.ts'

/** Runs an app with a fake process: the test sends signals, and exits are recorded. */
function running(app: Partial<App>) {
  const clock = fixedClock(0)
  const records: LogEntry[] = []
  const exits: number[] = []
  const calls: string[] = []
  let send: (signal: SignalName) => void = () => {}
  const log = logger({
    clock,
    ids: idGenerator(clock),
    instance: 'ins_1',
    level: 'info',
    redactor: redactor(),
    sinks: [(entry) => void records.push(entry)],
  })
  const whole: App = {
    async start(aborted) {
      calls.push('start')
      return (await app.start?.(aborted)) ?? { url: 'http://here' }
    },
    async stop() {
      calls.push('stop')
      await app.stop?.()
    },
  }
  const host = {
    onSignal: (listener: typeof send) => {
      send = listener
    },
    exit: (code: number) => void exits.push(code),
  }
  const ended = run(whole, { log, clock, close: async () => {} }, host)
  return { ended, clock, records, exits, calls, signal: (name: SignalName) => send(name) }
}

const texts = (records: LogEntry[]) => records.map((entry) => `${entry.level} ${entry.message}`)

/** Waits for the next turn of the event loop. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe('the process', () => {
  it('logs the signal, stops the app, and exits 0', async () => {
    const service = running({})
    await nextTurn()
    expect(texts(service.records)).toEqual(['info The service accepts requests at http://here.'])
    service.signal('SIGTERM')
    await service.ended
    expect(service.calls).toEqual(['start', 'stop'])
    expect(service.exits).toEqual([0])
    expect(texts(service.records).slice(1)).toEqual([
      'info Received SIGTERM; stopping.',
      'info The service has stopped.',
    ])
  })

  it('ignores a second signal within a second, and exits 1 at a later one', async () => {
    const service = running({ stop: () => new Promise(() => {}) })
    await nextTurn()
    service.signal('SIGINT')
    service.clock.advance(1000)
    service.signal('SIGINT')
    await nextTurn()
    expect(service.exits).toEqual([])
    service.clock.advance(1)
    service.signal('SIGTERM')
    expect(service.exits).toEqual([1])
    expect(texts(service.records).at(-1)).toBe('warn Received SIGTERM again; exiting at once.')
  })

  it('exits 1 when the start fails, after closing the app, and logs why', async () => {
    const service = running({ start: () => Promise.reject(new Error('the port is taken')) })
    await service.ended
    expect(service.calls).toEqual(['start', 'stop'])
    expect(service.exits).toEqual([1])
    expect(texts(service.records)[0]).toBe('fatal The service cannot start: the port is taken')
  })

  it('aborts the start at a signal and exits 0', async () => {
    const service = running({
      start: (aborted) =>
        new Promise((_resolve, reject) => aborted.addEventListener('abort', () => reject(new Error('aborted')))),
    })
    await nextTurn()
    service.signal('SIGTERM')
    await service.ended
    expect(service.calls).toEqual(['start', 'stop'])
    expect(service.exits).toEqual([0])
  })

  it('does not wait for a start or a stop that never ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const service = running({ start: () => new Promise(() => {}), stop: () => new Promise(() => {}) })
      await nextTurn()
      service.signal('SIGTERM')
      await nextTurn()
      await vi.advanceTimersByTimeAsync(5000)
      expect(service.calls).toEqual(['start', 'stop'])
      await vi.advanceTimersByTimeAsync(27_000)
      await service.ended
      expect(service.exits).toEqual([1])
      expect(texts(service.records).at(-1)).toMatch(/^error The service did not stop cleanly/)
    } finally {
      vi.useRealTimers()
    }
  })

  it('exits 1 when stopping fails', async () => {
    const service = running({ stop: () => Promise.reject(new Error('no')) })
    await nextTurn()
    service.signal('SIGTERM')
    await service.ended
    expect(service.exits).toEqual([1])
  })
})
