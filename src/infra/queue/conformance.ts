import { adding } from './conformance/adding.ts'
import { endings } from './conformance/endings.ts'
import { leases } from './conformance/leases.ts'
import { operating } from './conformance/operating.ts'
import type { MakeWorld } from './conformance/world.ts'

export type { QueueWorld } from './conformance/world.ts'

/** What every kind of queue does; its test file calls this with how to make a world. */
export function describeQueue(title: string, makeWorld: MakeWorld): void {
  for (const part of [adding, endings, operating, leases]) part(title, makeWorld)
}
