import { SimulatedCluster } from '../test/kit/cluster/simulated-cluster.ts'
import { measureQueue } from './scaling/queue-load.ts'
import { runScenario, type ScenarioResult, scenarios } from './scaling/scenarios.ts'
import { MEASURED, measureStatements } from './scaling/statement-costs.ts'

const INSTANCES = Number(process.env.BENCH_INSTANCES ?? 1000)
const ACCOUNTS = Number(process.env.BENCH_ACCOUNTS ?? 1_000_000)

/**
 * The ownership of accounts with 1,000 instances and 1,000,000 accounts in one process, on a simulated clock and a store in
 * memory: shares, times of take-overs, and what the database and the bus must carry. Prints the results as JSON at the end.
 */
export async function scaling(say: (line: string) => void): Promise<void> {
  const hasServer = process.env.BENCH_STORES !== 'none'
  const costs = (hasServer ? await measureStatements(say) : undefined) ?? MEASURED
  const cluster = new SimulatedCluster(costs, ACCOUNTS)
  const results: ScenarioResult[] = []
  for (const scenario of scenarios(INSTANCES)) {
    const startedMs = performance.now()
    const result = await runScenario(cluster, scenario)
    results.push(result)
    report(result, performance.now() - startedMs, say)
  }
  if (hasServer) await measureQueue(say)
  say(JSON.stringify({ instances: INSTANCES, accounts: ACCOUNTS, costs, results }))
}

function report(
  { name, instances, shares, takeOver, moves, load }: ScenarioResult,
  tookMs: number,
  say: (line: string) => void,
) {
  const { perSecond, busiestSecond, hintsPerSecond } = load
  const memory = process.memoryUsage().rss / 2 ** 20
  say(
    `${name}: ${instances} instances, ${load.seconds} s simulated in ${(tookMs / 1000).toFixed(1)} s, ${memory.toFixed(0)} MB`,
  )
  const { least, median, most, fair } = shares
  say(`  accounts of an instance   ${least} · ${median} · ${most} (fair ${fair.toFixed(1)}), ${count(moves)} moved`)
  if (takeOver !== undefined) {
    const { accounts, p50Ms, p99Ms, mostMs, neverTaken } = takeOver
    const times = [p50Ms, p99Ms, mostMs].map((ms) => (ms / 1000).toFixed(2)).join(' · ')
    say(`  taken over                ${count(accounts)} accounts, p50 · p99 · most ${times} s, ${neverTaken} never`)
  }
  for (const [title, sums] of [
    ['each second', perSecond],
    ['busiest second', busiestSecond],
  ] as const) {
    const cores = (sums.cpuMs / 1000).toFixed(2)
    say(
      `  ${title.padEnd(24)}  ${count(sums.statements)} statements, ${count(sums.rowsRead)} rows read, ${count(sums.rowsWritten)} written, ${cores} cores`,
    )
  }
  const kinds = Object.entries(load.byKind).sort(([, left], [, right]) => right.cpuMs - left.cpuMs)
  for (const [kind, { statements, rowsRead, cpuMs }] of kinds.slice(0, 5)) {
    say(
      `    ${kind.padEnd(22)}  ${count(statements)} statements, ${count(rowsRead)} rows read, ${(cpuMs / 1000).toFixed(2)} cores`,
    )
  }
  say(
    `  hints each second         ${count(hintsPerSecond.published)} published, ${count(hintsPerSecond.delivered)} delivered`,
  )
}

const count = (value: number) => Math.round(value).toLocaleString('en')
