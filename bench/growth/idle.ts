import { userNames } from '../../test/scenarios/mailboxes.ts'
import { measureService, withScripted } from '../idle.ts'
import { judge, sayVerdict } from '../verdict.ts'
import { fitExponent, type Point } from './exponent.ts'

const ACCOUNTS = (process.env.BENCH_ACCOUNTS ?? '100,1000,5000').split(',').map(Number)

/** CPU time and memory of accounts that receive nothing, above those of a service without accounts. */
export async function idleGrowth(limit: { atMost: number }, say: (line: string) => void): Promise<void> {
  const cpu: Point[] = []
  const memory: Point[] = []
  for (const size of ACCOUNTS) {
    const users = userNames(size)
    await withScripted(users, async (server) => {
      const { empty, full, kilobytesEach } = await measureService(server, users)
      const cpuPercent = full.cpuPercent - empty.cpuPercent
      cpu.push({ size, cost: cpuPercent })
      memory.push({ size, cost: kilobytesEach * size })
      const each = `${((cpuPercent * 10_000) / size).toFixed(0)} µs of CPU a second, ${kilobytesEach.toFixed(0)} kB`
      const what = `${size.toLocaleString('en')} idle accounts`
      say(`${what.padEnd(41)}each ${each}`)
    })
  }
  for (const [name, points] of Object.entries({ CPU: cpu, memory })) {
    const about = { bench: 'growth', what: `idle accounts, ${name}, exponent`, unit: '', limit }
    sayVerdict(say, judge(about, { ours: [fitExponent(points)] }))
  }
}
