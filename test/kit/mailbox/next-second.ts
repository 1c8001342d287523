import { sleep } from '../../../src/platform/concurrency/abort.ts'

/** Waits for the next second: mail servers store in whole seconds when a message arrived. */
export const nextSecond = () => sleep(1000 - (Date.now() % 1000))
