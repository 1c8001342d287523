import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { silentLog } from '../log/index.ts'
import { systemClock } from '../time/clock.ts'
import { OwnedScheduler, type OwnedSchedulerOptions, type RunContext, type RunResult } from './owned-scheduler.ts'

/** A scheduler whose runs the test ends. */
function scripted(options: Partial<OwnedSchedulerOptions> = {}) {
  const runs: { id: string; context: RunContext; end(result: RunResult): void; fail(error: Error): void }[] = []
  const scheduler = new OwnedScheduler({
    clock: systemClock,
    log: silentLog,
    operation: 'test',
    concurrency: 4,
    backoff: { baseMs: 60_000, capMs: 60_000 },
    run: (id, context) => new Promise((resolve, reject) => void runs.push({ id, context, end: resolve, fail: reject })),
    ...options,
  })
  onTestFinished(() => scheduler.stop(0))
  const run = (place: number) => {
    const found = runs[place]
    if (found === undefined) throw new Error(`there is no run ${place}`)
    return found
  }
  return { scheduler, runs, run }
}

it('runs a gained account at once and again when it is due', async () => {
  const { scheduler, runs, run } = scripted()
  scheduler.add('a')
  run(0).end({ nextRunInMs: 5 })
  await eventually(() => expect(runs).toHaveLength(2))
  run(1).end({})
  await eventually(() => expect(scheduler.state('a')).toMatchObject({ state: 'idle', nextRunAt: null, attempts: 0 }))
  expect(scheduler.totals()).toMatchObject({ accounts: 1, completed: 2, failed: 0, waiting: 0, active: 0 })
})

it('retries a failed run after the backoff, and counts failures until a run succeeds', async () => {
  const { scheduler, runs, run } = scripted({ backoff: { baseMs: 10, capMs: 10 } })
  scheduler.add('a')
  run(0).fail(new Error('the server is down'))
  await eventually(() => expect(runs).toHaveLength(2))
  expect(run(1).context.failures).toBe(1)
  expect(scheduler.state('a')).toMatchObject({ state: 'active', attempts: 1, lastError: 'the server is down' })
  run(1).end({ failure: new Error('wrong password') })
  await eventually(() => expect(scheduler.state('a')).toMatchObject({ state: 'idle', attempts: 2 }))
  scheduler.request('a')
  run(2).end({ nextRunInMs: 60_000 })
  await eventually(() => expect(scheduler.state('a')).toMatchObject({ state: 'waiting', attempts: 0, lastError: null }))
  expect(scheduler.totals()).toMatchObject({ completed: 1, failed: 2, delayed: 1 })
})

it('runs an account once more after any number of requests during its run', async () => {
  const { scheduler, runs, run } = scripted()
  scheduler.add('a')
  for (let n = 0; n < 5; n += 1) scheduler.request('a')
  expect(runs).toHaveLength(1)
  run(0).end({ nextRunInMs: 60_000 })
  await eventually(() => expect(runs).toHaveLength(2))
  run(1).end({ nextRunInMs: 60_000 })
  await eventually(() => expect(scheduler.state('a')).toMatchObject({ state: 'waiting' }))
  expect(runs).toHaveLength(2)
})

it('aborts the run of a lost account, and runs the account again when it is regained', async () => {
  const { scheduler, runs, run } = scripted()
  scheduler.add('a')
  scheduler.remove('a')
  expect(run(0).context.signal.aborted).toBe(true)
  expect(scheduler.state('a')).toBeUndefined()
  scheduler.add('a')
  expect(runs).toHaveLength(1)
  run(0).fail(new Error('aborted'))
  await eventually(() => expect(runs).toHaveLength(2))
  expect(scheduler.state('a')).toMatchObject({ attempts: 0, lastError: null })
  scheduler.remove('a')
  run(1).end({ nextRunInMs: 1 })
  await eventually(() => expect(scheduler.totals()).toMatchObject({ accounts: 0, active: 0, failed: 0 }))
})

it('yields to the event loop when thousands of accounts are due at once', async () => {
  let ran = 0
  const turns: number[] = []
  const { scheduler } = scripted({
    concurrency: 64,
    run: async () => {
      ran += 1
      return {}
    },
  })
  for (let n = 0; n < 5000; n += 1) scheduler.add(`acc_${n}`, `host_${n % 7}`)
  while (ran < 5000) {
    turns.push(ran)
    await nextTurn()
  }
  const steps = turns.slice(1).map((count, place) => count - (turns[place] ?? 0))
  expect(Math.max(...steps)).toBeLessThanOrEqual(32)
})

it('stops: waits for running accounts, then aborts them, and starts no new ones', async () => {
  const { scheduler, runs, run } = scripted({ concurrency: 1 })
  scheduler.add('a')
  scheduler.add('b')
  const stopped = scheduler.stop(10)
  await eventually(() => expect(run(0).context.signal.aborted).toBe(true))
  run(0).end({})
  await stopped
  expect(runs.map(({ id }) => id)).toEqual(['a'])
})

it('keeps a held account waiting without running it', async () => {
  let heldMs = 20
  const { scheduler, runs, run } = scripted({ heldMs: () => heldMs })
  scheduler.add('a')
  expect(runs).toHaveLength(0)
  expect(scheduler.state('a')).toMatchObject({ state: 'waiting', lastRunAt: null, nextRunAt: expect.any(Number) })
  heldMs = 0
  await eventually(() => expect(runs).toHaveLength(1))
  run(0).end({})
})
