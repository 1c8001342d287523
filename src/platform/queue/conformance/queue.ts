import { adding } from './adding.ts'
import { leases } from './leases.ts'
import { model } from './model.ts'
import { runs } from './runs.ts'
import type { MakeWorld } from './world.ts'

export type { QueueWorld } from './world.ts'

/** The behaviour of every kind of queue. Its test file passes a function that makes a world. */
export function describeQueue(title: string, makeWorld: MakeWorld): void {
  for (const part of [adding, runs, leases, model]) part(title, makeWorld)
}
