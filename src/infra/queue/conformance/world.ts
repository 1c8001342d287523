import type { Db } from '../../db/index.ts'
import type { Queue, Worker } from '../queue.ts'

/** Some processes around one empty queue, with backoffs of 20 to 100 ms. */
export interface QueueWorld {
  db: Db
  /** Joins as the process with this id, looking for itself every `pollMs` (100 by default); closed after the test. */
  join(instanceId: string, pollMs?: number): Promise<Queue>
  /** A real process that runs one job of the lane, is in the middle of it, and is killed with SIGKILL. */
  crash(instanceId: string, lane: string, leaseMs: number): Promise<void>
}

export type MakeWorld = () => Promise<QueueWorld>

export async function alone(makeWorld: MakeWorld) {
  const world = await makeWorld()
  return { world, queue: await world.join('ins_1') }
}

export async function two(makeWorld: MakeWorld, pollMs?: number) {
  const world = await makeWorld()
  return { world, one: await world.join('ins_1', pollMs), other: await world.join('ins_2', pollMs) }
}

/** Works the lane and writes down the subjects. */
export function record(queue: Queue): { subjects: string[] } {
  const subjects: string[] = []
  queue.work('lane', { concurrency: 10 }, async (subject) => {
    subjects.push(subject)
    return undefined
  })
  return { subjects }
}

export interface Gate {
  worker: Worker
  /** Every run, in order. */
  started: string[]
  running: string[]
  signals: AbortSignal[]
  /** Lets the runs under way end. */
  release(): void
  /** Lets later ones through. */
  open(): void
}

/** Works the lane with runs that end only when they are told to. */
export function held(queue: Queue, options: { concurrency?: number; leaseMs?: number } = {}): Gate {
  const waiting: (() => void)[] = []
  let isOpen = false
  const gate: Omit<Gate, 'worker'> = {
    started: [],
    running: [],
    signals: [],
    release() {
      for (const end of waiting.splice(0)) end()
    },
    open() {
      isOpen = true
      gate.release()
    },
  }
  const worker = queue.work('lane', { concurrency: 10, ...options }, async (subject, { signal }) => {
    gate.started.push(subject)
    gate.running.push(subject)
    gate.signals.push(signal)
    if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve))
    gate.running.splice(gate.running.indexOf(subject), 1)
    return undefined
  })
  return Object.assign(gate, { worker })
}
