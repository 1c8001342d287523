import { adding } from './conformance/adding.ts'
import { leases } from './conformance/leases.ts'
import { model } from './conformance/model.ts'
import { runs } from './conformance/runs.ts'
import type { MakeWorld } from './conformance/world.ts'

export type { QueueWorld } from './conformance/world.ts'

/** The behaviour of every kind of queue. Its test file passes a function that makes a world. */
export function describeQueue(title: string, makeWorld: MakeWorld): void {
  for (const part of [adding, runs, leases, model]) part(title, makeWorld)
}
