import { expect, it } from 'vitest'
import { nextTurn } from '../../../platform/concurrency/event-loop.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { CopyGate } from './copy-gate.ts'

const never = () => new AbortController().signal
const LONG_MS = 60_000

it('opens when the last run has sent its messages', async () => {
  const gate = new CopyGate(systemClock)
  const stops = [gate.startSending(), gate.startSending()]
  let isOpen = false
  const waiting = gate.wait(LONG_MS, never()).then((result) => {
    isOpen = result
  })
  stops[0]?.()
  await nextTurn()
  expect(isOpen).toBe(false)
  stops[1]?.()
  await waiting
  expect(isOpen).toBe(true)
})

it('is open while nobody sends, and for a run that is over', async () => {
  const gate = new CopyGate(systemClock)
  expect(await gate.wait(LONG_MS, never())).toBe(true)
  gate.startSending()
  expect(await gate.wait(LONG_MS, AbortSignal.abort())).toBe(true)
})

it('reports that runs still send', async () => {
  const gate = new CopyGate(systemClock)
  gate.startSending()
  expect(await gate.wait(1, never())).toBe(false)
})

it('lets a run through when 32 wait, so that they do not keep all workers', async () => {
  const gate = new CopyGate(systemClock)
  const stop = gate.startSending()
  const waiting = Array.from({ length: 32 }, () => gate.wait(LONG_MS, never()))
  expect(await gate.wait(LONG_MS, never())).toBe(true)
  stop()
  expect(await Promise.all(waiting)).toEqual(Array(32).fill(true))
})
