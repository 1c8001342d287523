import { expect, it } from 'vitest'
import { spentCpuMs } from '../../../../test/kit/measure/event-loop.ts'
import type { EventStep, RemoteEvent } from '../../../providers/contract/index.ts'
import { splitIntoParts } from './split-step.ts'

const event = (eventId: string, recurringEventId: string | null = null) =>
  ({ eventId, recurringEventId }) as RemoteEvent

function buildStep(events: Partial<EventStep>): EventStep {
  return { found: [], entered: [], complete: [], removed: [], cursor: '', ...events }
}

it('keeps a series with its exceptions in one part', () => {
  const exceptions = Array.from({ length: 150 }, (_, n) => event(`s${n}`, 's'))
  const found = [event('a'), ...exceptions, event('s')]
  const parts = splitIntoParts(buildStep({ found, entered: [event('b')], complete: ['s'] }))
  expect(parts.map((part) => [part.found.length, part.entered.length, part.complete])).toEqual([
    [1, 0, []],
    [151, 0, ['s']],
    [0, 1, []],
  ])
})

it('takes little for a series with 50,000 exceptions', async () => {
  const found = Array.from({ length: 50_000 }, (_, n) => event(`s${n}`, 's'))
  expect(await spentCpuMs(() => splitIntoParts(buildStep({ found, complete: ['s'] })))).toBeLessThan(1000)
})
