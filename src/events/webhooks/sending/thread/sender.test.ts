import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { closing } from '../../../../../test/kit/closing.ts'
import { eventually } from '../../../../../test/kit/eventually.ts'
import { memoryLog } from '../../../../../test/kit/service/memory-log.ts'
import { startReceiver } from '../../../../../test/servers/receiver.ts'
import { serviceGuard } from '../../../../platform/net/index.ts'
import { type Outbound, outbound } from '../../../../platform/outbound/index.ts'
import { workerFile } from '../../../../platform/threads/worker-file.ts'
import { systemClock } from '../../../../platform/time/clock.ts'
import type { AttemptInput } from '../attempt.ts'
import { Sender, type SenderTiming } from './sender.ts'

const SECRET = `whsec_${Buffer.from('a secret of some length').toString('base64')}`
const BUSY = 3

const newWorker = () => new Worker(workerFile('sender-worker'))

interface Options {
  privateTargets?: string
  timing?: Partial<SenderTiming>
  startWorker?: () => Worker
}

/** A receiver, and a sender whose thread starts with the third attempt within a second of a clock that only the test moves. */
async function senderFixture({ privateTargets = 'loopback', timing, startWorker = newWorker }: Options = {}) {
  const workers: Worker[] = []
  const exits: Promise<void>[] = []
  const { log, entries } = memoryLog()
  const client = closing(outbound({ guard: serviceGuard({ privateTargets, clock: systemClock }) }))
  let sentHere = 0
  let nowMs = 0
  const clock = { ...systemClock, monotonic: () => nowMs }
  const counting: Outbound = {
    ...client,
    send(request) {
      sentHere += 1
      return client.send(request)
    },
  }
  const receiver = closing(await startReceiver())
  const sender = closing(
    new Sender({
      outbound: counting,
      clock,
      log,
      thread: {
        privateTargets,
        timing: { busyAttempts: BUSY, ...timing },
        startWorker() {
          const worker = startWorker()
          workers.push(worker)
          exits.push(new Promise((resolve) => worker.once('exit', () => resolve())))
          return worker
        },
      },
    }),
  )
  const never = new AbortController().signal
  const send = (more: Partial<AttemptInput> = {}, signal = never) =>
    sender.attempt({ ...INPUT, url: receiver.url, ...more }, signal)
  /** Whether the thread makes the next attempt. */
  const isOnThread = async () => {
    const before = sentHere
    await send()
    return sentHere === before
  }
  /** Makes attempts until the thread makes them. */
  const getBusy = () =>
    eventually(async () => {
      for (let index = 1; index < BUSY; index += 1) await send()
      expect(await isOnThread()).toBe(true)
    })
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { sender, receiver, workers, exits, entries, send, isOnThread, getBusy, pass }
}

const INPUT: AttemptInput = {
  eventId: 'evt_1',
  endpointId: 'whe_1',
  url: '',
  body: '{"a":"é"}',
  secrets: [SECRET],
  headers: { 'X-Own': 'yes' },
  timeoutMs: 300_000,
}

it('sends few requests itself, and many on a thread, with the same outcome', async () => {
  const { receiver, workers, send, isOnThread, getBusy } = await senderFixture()
  receiver.always({ status: 503, headers: { 'retry-after': '7' }, body: 'läter' })
  const here = await send()
  expect(await isOnThread()).toBe(false)
  expect(workers).toHaveLength(0)
  await getBusy()
  const sent = await send()
  expect(sent).toMatchObject({
    responseStatus: 503,
    responseBody: 'läter',
    error: { kind: 'http_status' },
    retryAfterMs: 7000,
    signatures: 1,
    headerNames: ['X-Own'],
  })
  expect({ ...sent, startedAt: 0, durationMs: 0 }).toEqual({ ...here, startedAt: 0, durationMs: 0 })
  expect(Math.abs(sent.startedAt - Date.now())).toBeLessThan(5000)
  const [first, last] = [receiver.requests[0], receiver.requests.at(-1)]
  expect(last).toMatchObject({ body: INPUT.body, headers: { 'x-own': 'yes', 'webhook-id': 'evt_1' } })
  expect(Object.keys(last?.headers ?? {})).toEqual(Object.keys(first?.headers ?? {}))
  receiver.verify(SECRET)
  expect(workers).toHaveLength(1)
})

it('sends to many at once, so that a slow endpoint delays nobody', async () => {
  const { receiver, send, getBusy } = await senderFixture()
  await getBusy()
  receiver.script('hang')
  const stop = new AbortController()
  const hanging = send({ endpointId: 'whe_slow', timeoutMs: 600_000 }, stop.signal)
  await eventually(() => expect(receiver.open).toBe(1))
  const outcomes = await Promise.all(Array.from({ length: 100 }, (_, index) => send({ eventId: `evt_${index}` })))
  expect(outcomes.map(({ error }) => error)).toEqual(Array(100).fill(null))
  const ids = receiver.requests.slice(-100).map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(100)
  stop.abort(new Error('enough'))
  await expect(hanging).rejects.toThrow('enough')
  await eventually(() => expect(receiver.open).toBe(0))
  await expect(send({}, stop.signal)).rejects.toThrow('enough')
})

it('uses the thread until there were few for a while, and then ends it', async () => {
  const { isOnThread, getBusy, workers, pass } = await senderFixture({ timing: { idleMs: 500 } })
  // Again when the machine took longer than that.
  const exited = await eventually(async () => {
    await getBusy()
    const worker = workers.at(-1)
    const ended = worker && once(worker, 'exit')
    pass(1000)
    expect(await isOnThread()).toBe(true)
    return ended
  })
  await eventually(async () => {
    pass(1000)
    expect(await isOnThread()).toBe(false)
  })
  await exited
  const before = workers.length
  await getBusy()
  expect(workers.length).toBeGreaterThan(before)
})

it('contacts only what PRIVATE_TARGETS allows, and reports what it refuses', async () => {
  const { receiver, workers, entries, send } = await senderFixture({ privateTargets: 'none' })
  await eventually(async () => {
    expect((await send()).error).toMatchObject({
      kind: 'refused_address',
      message: expect.stringContaining('PRIVATE_TARGETS'),
    })
    // The guard of each thread reports a host once a minute.
    expect(entries.filter(({ operation }) => operation === 'net.refuse')).toHaveLength(1)
  })
  expect(workers).toHaveLength(1)
  expect(receiver.requests).toEqual([])
})

it('fails what a lost thread was sending, sends itself, and starts another thread later', async () => {
  const { receiver, workers, entries, send, isOnThread, getBusy, pass } = await senderFixture({
    timing: { restartMs: 60_000 },
  })
  await getBusy()
  receiver.script('hang')
  const hanging = send()
  await eventually(() => expect(receiver.open).toBe(1))
  const failing = expect(hanging).rejects.toThrow('the thread that made the attempt ended')
  await workers[0]?.terminate()
  await failing
  for (let index = 0; index < BUSY; index += 1) expect(await isOnThread()).toBe(false)
  expect(workers).toHaveLength(1)
  expect(entries).toMatchObject([{ level: 'error', operation: 'webhooks.thread' }])
  pass(60_000)
  await getBusy()
  expect(workers).toHaveLength(2)
})

it('fails what waits for a thread that hangs', async () => {
  const hangs = `
    const { parentPort } = require('node:worker_threads')
    parentPort.on('message', ({ call, method }) => {
      if (method === 'begin') for (;;);
      parentPort.postMessage({ done: call, result: { as: 'object', id: 1, value: {}, methods: ['begin', 'abort', 'ping'], signals: {} } })
    })`
  const { sender, send, pass } = await senderFixture({
    startWorker: () => new Worker(hangs, { eval: true }),
    timing: { pingMs: 10, endAfterMs: 100, restartMs: 1000 },
  })
  // On a slow machine a thread is given up before it has started; then another one starts a second later.
  await eventually(() => {
    pass(1000)
    return expect(Promise.all(Array.from({ length: BUSY }, () => send()))).rejects.toThrow('ended')
  })
  pass(999)
  expect(await send()).toMatchObject({ responseStatus: 204 })
  await sender.close()
})

it('sends itself when the thread does not start', async () => {
  const startWorker = () => new Worker('throw new Error("it lacks something")', { eval: true })
  const { workers, entries, send } = await senderFixture({ startWorker })
  for (let index = 0; index < BUSY * 3; index += 1) expect(await send()).toMatchObject({ responseStatus: 204 })
  await eventually(() => expect(entries).toMatchObject([{ error: { message: 'it lacks something' } }]))
  expect(await send()).toMatchObject({ responseStatus: 204 })
  expect(workers).toHaveLength(1)
})

it('does not end a thread that waits for a response', async () => {
  const { receiver, exits, send, isOnThread, getBusy } = await senderFixture({ timing: { idleMs: 200 } })
  await getBusy()
  receiver.script({ delayMs: 700, status: 202 })
  expect(await send()).toMatchObject({ responseStatus: 202 })
  await exits[0]
  expect(await isOnThread()).toBe(false)
})

it('ends with the service: attempts fail, twice safely', async () => {
  const { sender, receiver, workers, send, getBusy } = await senderFixture()
  await getBusy()
  receiver.script('hang')
  const failing = expect(send()).rejects.toThrow('stopping')
  await eventually(() => expect(receiver.open).toBe(1))
  await Promise.all([sender.close(), sender.close(), failing])
  for (let index = 0; index < BUSY; index += 1) await send()
  expect(workers).toHaveLength(1)
})
