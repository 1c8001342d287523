import type { Db } from '../../db/index.ts'
import type { Queue, Worker } from '../queue.ts'

/** Several processes sharing one empty queue, with backoffs of 20 to 100 ms. */
export interface QueueWorld {
  db: Db
  /** Joins as the process with this id, checking every `pollMs` (100 by default); closed after the test. */
  join(instanceId: string, pollMs?: number): Promise<Queue>
  /** Starts a real process that is killed with SIGKILL in the middle of a job of the queue. */
  crash(instanceId: string, queue: string, leaseMs: number): Promise<void>
  /** Everything stored for jobs of the queue; empty when all are finished. */
  stored(queue: string): Promise<string[]>
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

/** Works on the queue and records the keys. */
export function record(queue: Queue): { keys: string[] } {
  const keys: string[] = []
  queue.work('queue', { concurrency: 10 }, async (key) => {
    keys.push(key)
    return undefined
  })
  return { keys }
}

interface Gate {
  worker: Worker
  /** Every run, in order. */
  started: string[]
  running: string[]
  signals: AbortSignal[]
  /** Lets the current runs end. */
  release(): void
  /** Lets all later runs end, too. */
  open(): void
}

/** Works on the queue with runs that end when the gate releases them. */
export function gated(queue: Queue, options: { concurrency?: number; leaseMs?: number } = {}): Gate {
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
  const worker = queue.work('queue', { concurrency: 10, ...options }, async (key, { signal }) => {
    gate.started.push(key)
    gate.running.push(key)
    gate.signals.push(signal)
    if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve))
    gate.running.splice(gate.running.indexOf(key), 1)
    return undefined
  })
  return Object.assign(gate, { worker })
}
