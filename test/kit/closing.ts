import { onTestFinished } from 'vitest'

/** Closes it when the test is over, after whatever was opened later. */
export function closing<T extends { close(): Promise<void> }>(thing: T): T {
  onTestFinished(() => thing.close())
  return thing
}
