import { onTestFinished } from 'vitest'

/** Closes `thing` at the end of the test, in reverse order of the calls. */
export function closing<T extends { close(): Promise<void> }>(thing: T): T {
  onTestFinished(() => thing.close())
  return thing
}
