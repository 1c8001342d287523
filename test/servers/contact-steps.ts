import type { ContactStep } from '../../src/providers/contract/index.ts'

/** Everything that steps of a sync report, and the last cursor. */
export async function drainSteps(steps: AsyncIterable<ContactStep>) {
  const all: ContactStep[] = []
  for await (const step of steps) all.push(step)
  return {
    found: all.flatMap(({ found }) => found),
    removed: all.flatMap(({ removed }) => removed),
    unreadable: all.flatMap(({ unreadable = [] }) => unreadable),
    cursor: all.at(-1)?.cursor ?? null,
    steps: all.length,
  }
}
