import { replaceFailure } from '../../platform/errors/programming-errors.ts'
import { type Check, type Finding, failed, ok, Skip, warning } from './check.ts'

/** A clock that ours is compared with. */
export interface TimeSource {
  name: string
  /** How far it is ahead of ours. Undefined when it cannot be read, which another check reports. */
  aheadMs(): Promise<number | undefined>
}

const WARNING_MS = 5000
const FAILURE_MS = 60_000

/** Compares the clock of this machine with all others. */
export function clockCheck(sources: readonly TimeSource[]): Check {
  return {
    name: 'clock',
    async run(): Promise<Finding> {
      const read = await Promise.all(
        sources.map(async ({ name, aheadMs }) => ({ name, aheadMs: await aheadMs().catch(replaceFailure(undefined)) })),
      )
      const clocks = read.flatMap(({ name, aheadMs }) => (aheadMs === undefined ? [] : [{ name, aheadMs }]))
      if (clocks.length === 0) throw new Skip('There is no other clock to compare with.')
      const names = clocks.map(({ name }) => name).join(', ')
      const off = clocks.filter(({ aheadMs }) => Math.abs(aheadMs) > WARNING_MS)
      if (off.length === 0) return ok(`The clock of this machine agrees with ${names}.`)
      const message = `The clock of this machine is ${off.map(differenceTo).join(' and ')}.`
      const remedy = 'Synchronise the clocks of all machines with NTP (timedatectl set-ntp true).'
      return off.some(({ aheadMs }) => Math.abs(aheadMs) > FAILURE_MS)
        ? failed(message, remedy)
        : warning(message, remedy)
    },
  }
}

function differenceTo({ name, aheadMs }: { name: string; aheadMs: number }): string {
  return `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'behind' : 'ahead of'} that of ${name}`
}
