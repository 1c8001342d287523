import { describe, expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { type WebhookFixture, webhookFixture } from '../../../../test/kit/events/webhooks.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { startReceiver } from '../../../../test/servers/receiver.ts'
import type { Outcome } from './attempt.ts'
import {
  afterOutcomes,
  type Circuit,
  type CircuitOutcome,
  CLOSED,
  classifyOutcome,
  FAILURES_TO_OPEN,
} from './circuit.ts'

const failures = (count: number): CircuitOutcome[] => Array(count).fill('failure')
const OPEN = afterOutcomes(CLOSED, failures(FAILURES_TO_OPEN), 1000)
const halfOpen = (circuit: Circuit): Circuit => ({ ...circuit, circuitState: 'half_open' })

describe('a circuit', () => {
  it('opens after many consecutive failures, not before', () => {
    const almost = afterOutcomes(CLOSED, failures(FAILURES_TO_OPEN - 1), 1000)
    expect(almost).toMatchObject({ circuitState: 'closed', circuitFailures: FAILURES_TO_OPEN - 1 })
    expect(afterOutcomes(almost, ['failure'], 1000)).toMatchObject({
      circuitState: 'open',
      circuitFailures: FAILURES_TO_OPEN,
      circuitOpenedAt: 1000,
      circuitProbeAt: 2000,
    })
    expect(afterOutcomes(almost, ['success', 'failure'], 1000)).toMatchObject({
      circuitState: 'closed',
      circuitFailures: 1,
    })
  })

  it('is not written while attempts succeed', () => {
    expect(afterOutcomes(CLOSED, ['success', 'none', 'success'], 1000)).toBe(CLOSED)
  })

  it('doubles its pause with every failed probe, up to five minutes, and remembers when it opened', () => {
    let circuit = OPEN
    const pauses = Array.from({ length: 10 }, () => {
      circuit = afterOutcomes(halfOpen(circuit), ['failure'], 50_000)
      return (circuit.circuitProbeAt ?? 0) - 50_000
    })
    expect(pauses).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1000))
    expect(circuit).toMatchObject({
      circuitState: 'open',
      circuitOpenedAt: 1000,
      circuitFailures: FAILURES_TO_OPEN + 10,
    })
  })

  it('closes on any success and starts with the first pause when it opens again', () => {
    expect(afterOutcomes(halfOpen(OPEN), ['success'], 5000)).toEqual(CLOSED)
    expect(afterOutcomes(OPEN, ['success'], 5000)).toEqual(CLOSED)
    const again = afterOutcomes(CLOSED, failures(FAILURES_TO_OPEN), 9000)
    expect(again.circuitProbeAt).toBe(10_000)
  })

  it('keeps its pause when requests in flight fail late', () => {
    expect(afterOutcomes(OPEN, failures(3), 1900)).toEqual({ ...OPEN, circuitFailures: FAILURES_TO_OPEN + 3 })
  })

  it('does not count replays, tests or internal errors', () => {
    const failed = (kind: 'timeout' | 'internal'): Outcome => ({
      startedAt: 0,
      durationMs: 1,
      responseStatus: null,
      responseBody: null,
      error: { kind, message: '' },
      retryAfterMs: undefined,
      signatures: 0,
      headerNames: [],
    })
    expect(classifyOutcome({ test: 0, trigger: 'event' }, failed('timeout'))).toBe('failure')
    expect(classifyOutcome({ test: 0, trigger: 'event' }, failed('internal'))).toBe('none')
    expect(classifyOutcome({ test: 1, trigger: 'test' }, failed('timeout'))).toBe('none')
    for (const trigger of ['retry', 'recover'] as const) {
      expect(classifyOutcome({ test: 0, trigger }, failed('timeout'))).toBe('failed-replay')
    }
    const replays: CircuitOutcome[] = Array(100).fill('failed-replay')
    expect(afterOutcomes(CLOSED, replays, 1000)).toBe(CLOSED)
    // As a probe, it ends the probe without changing the pause.
    expect(afterOutcomes(halfOpen(OPEN), ['failed-replay'], 5000)).toMatchObject({
      circuitState: 'open',
      circuitProbeAt: 6000,
    })
  })
})

const EVENTS = 100
const many = (count: number) => Array.from({ length: count }, (_, index) => ({ objectId: `msg_${index}` }))

describeEachDatabase('an endpoint that keeps failing', (open) => {
  const readCircuit = async (fixture: WebhookFixture, id: string) => (await fixture.endpoints.get(id)).circuit

  async function broken(retryCount = 0) {
    const receiver = closing(await startReceiver())
    receiver.always({ status: 500 })
    const fixture = closing(webhookFixture(await open()))
    await fixture.engine.start()
    const { id } = await fixture.create({ url: receiver.url, retryCount, retryDelayMs: 0 })
    await fixture.record(...many(EVENTS))
    await eventually(async () => expect(await readCircuit(fixture, id)).toMatchObject({ state: 'open' }))
    return { receiver, fixture, id }
  }

  const waiting = async (fixture: WebhookFixture) =>
    (await fixture.deliveries()).filter((delivery) => delivery.status === 'pending' && delivery.attempt === 0)

  it('gets one delivery at a time, and the rest once one succeeds', async () => {
    const { receiver, fixture, id } = await broken()
    expect(await readCircuit(fixture, id)).toEqual({
      state: expect.stringMatching(/open/),
      openedAt: expect.any(String),
      nextProbeAt: expect.any(String),
      failures: expect.any(Number),
    })
    const whenOpened = receiver.requests.length
    // Each of eight senders may have a request in flight when the circuit opens.
    expect(whenOpened).toBeLessThan(FAILURES_TO_OPEN + 16)

    await eventually(() => expect(receiver.requests.length).toBeGreaterThan(whenOpened))
    await eventually(async () => {
      const sent = receiver.requests.length
      expect((await readCircuit(fixture, id)).failures).toBe(sent)
      expect(await waiting(fixture)).toHaveLength(EVENTS - sent)
    })
    expect(receiver.requests.length).toBeLessThan(whenOpened + 12)

    const failed = receiver.requests.length
    receiver.always({})
    await eventually(async () => {
      expect(await readCircuit(fixture, id)).toEqual({
        state: 'closed',
        openedAt: null,
        nextProbeAt: null,
        failures: 0,
      })
      expect(await waiting(fixture)).toEqual([])
    })
    const succeeded = (await fixture.deliveries()).filter((delivery) => delivery.status === 'success')
    expect(succeeded.length).toBeGreaterThanOrEqual(EVENTS - failed - 1)
    expect(succeeded.every((delivery) => delivery.attempt === 1)).toBe(true)
  })

  it('accepts new events meanwhile and does not delay other endpoints', async () => {
    const { fixture } = await broken()
    const healthy = closing(await startReceiver())
    await fixture.create({ url: healthy.url })
    const recorded = await fixture.record(...many(5))
    await eventually(() => expect(healthy.requests).toHaveLength(5))
    const waitingEvents = (await waiting(fixture)).map(({ eventId }) => eventId)
    expect(waitingEvents).toEqual(expect.arrayContaining(recorded))
  })

  it('gets an attempt at once after an update, a test or a retry that succeeds', async () => {
    const { receiver, fixture, id } = await broken()
    receiver.always({})
    await fixture.testDeliveries.test(id)
    expect(await readCircuit(fixture, id)).toMatchObject({ state: 'closed', failures: 0 })
    await eventually(async () => expect(await waiting(fixture)).toEqual([]))

    receiver.always({ status: 500 })
    await fixture.record(...many(EVENTS))
    await eventually(async () => expect((await readCircuit(fixture, id)).state).not.toBe('closed'))
    receiver.always({})
    await fixture.endpoints.update(id, { timeoutMs: 5000 })
    await eventually(async () => expect(await waiting(fixture)).toEqual([]))
  })

  it('may be probed at once after a probe whose process was stopped', async () => {
    const { fixture, receiver, id } = await broken()
    receiver.always('hang')
    await eventually(async () => expect(await readCircuit(fixture, id)).toMatchObject({ state: 'half_open' }))
    await fixture.engine.stop(0)
    const { nextProbeAt } = await readCircuit(fixture, id)
    expect(Date.parse(nextProbeAt ?? '')).toBeLessThanOrEqual(Date.now())
  })

  it('is probed again after the process of a probe died', async () => {
    const { fixture, receiver, id } = await broken()
    receiver.always({})
    await fixture.engine.stop(0)
    const lost = { circuitState: 'half_open', circuitProbeAt: Date.now() + 300 } as const
    await fixture.db.transaction((tx) => tx.updateTable('webhookEndpoints').set(lost).where('id', '=', id).execute())
    const next = closing(webhookFixture(fixture.db))
    await next.engine.start()
    await eventually(async () => expect(await readCircuit(next, id)).toMatchObject({ state: 'closed' }))
    await eventually(async () => expect(await waiting(next)).toEqual([]))
  })
})
