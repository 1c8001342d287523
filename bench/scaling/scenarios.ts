import type { SimulatedCluster, SimulatedInstance } from '../../test/kit/cluster/simulated-cluster.ts'
import { type LoadFigures, LoadMeter } from './load-figures.ts'

export interface ScenarioResult {
  name: string
  instances: number
  /** Accounts of each instance at the end. */
  shares: { least: number; median: number; most: number; fair: number }
  /** How long accounts had no instance that runs them. */
  takeOver: { accounts: number; p50Ms: number; p99Ms: number; mostMs: number; neverTaken: number } | undefined
  /** How many accounts began to run at another instance. */
  moves: number
  load: LoadFigures
}

const SECOND = 1000

export interface Scenario {
  name: string
  seconds: number
  run(cluster: SimulatedCluster): Promise<unknown>
}

/** In this order on one cluster. */
export function scenarios(instances: number): Scenario[] {
  const killed = [1, 10, 100].filter((count) => count * 2 <= instances)
  return [
    {
      name: 'all start within a second',
      seconds: 60,
      run: (cluster) => startMany(cluster, instances, SECOND / instances),
    },
    { name: 'steady', seconds: 60, run: async () => {} },
    ...killed.flatMap((count) => [
      {
        name: count === 1 ? '1 instance dies' : `${count} instances die at once`,
        seconds: 30,
        run: async (cluster: SimulatedCluster) => {
          for (const instance of spread(cluster.living, count)) cluster.kill(instance)
        },
      },
      {
        name: count === 1 ? '1 instance joins' : `${count} instances join at once`,
        seconds: 60,
        run: (cluster: SimulatedCluster) => startMany(cluster, count, 0),
      },
    ]),
    {
      name: 'one restarts each second',
      seconds: 30,
      run: async (cluster) => {
        for (const instance of spread(cluster.living, Math.min(20, instances))) {
          await cluster.stop(instance)
          void cluster.start()
          await cluster.time.sleep(SECOND)
        }
      },
    },
    {
      name: 'a clock that is 5 s ahead, and one that is 2 % too fast',
      seconds: 30,
      run: async (cluster) => {
        await cluster.start({ clockAheadMs: 5000 })
        await cluster.start({ clockRate: 1.02 })
      },
    },
    { name: 'the database pauses for 10 s', seconds: 30, run: async (cluster) => cluster.database.pause(10 * SECOND) },
    { name: 'an account changes each second', seconds: 30, run: (cluster) => changeAccounts(cluster, 25) },
  ]
}

export async function runScenario(
  cluster: SimulatedCluster,
  { name, seconds, run }: Scenario,
): Promise<ScenarioResult> {
  cluster.takeOversMs()
  cluster.takeMoves()
  const meter = new LoadMeter()
  const running = run(cluster)
  for (let second = 0; second < seconds; second += 1) {
    await cluster.time.pass(SECOND)
    meter.addSecond(cluster.database.takeLoads(), cluster.bus.takeCounts())
  }
  await running
  const counts = cluster.counts().sort((left, right) => left - right)
  const takeOvers = cluster.takeOversMs().sort((left, right) => left - right)
  const takeOver = {
    accounts: takeOvers.length,
    p50Ms: at(takeOvers, 0.5),
    p99Ms: at(takeOvers, 0.99),
    mostMs: at(takeOvers, 1),
    neverTaken: cluster.waiting,
  }
  return {
    name,
    instances: counts.length,
    shares: {
      least: at(counts, 0),
      median: at(counts, 0.5),
      most: at(counts, 1),
      fair: cluster.store.accountCount / counts.length,
    },
    takeOver: takeOvers.length + cluster.waiting === 0 ? undefined : takeOver,
    moves: cluster.takeMoves(),
    load: meter.figures(),
  }
}

async function startMany(cluster: SimulatedCluster, count: number, gapMs: number): Promise<void> {
  const starting: Promise<unknown>[] = []
  for (let started = 0; started < count; started += 1) {
    starting.push(cluster.start())
    await cluster.time.sleep(gapMs)
  }
  await Promise.all(starting)
}

async function changeAccounts(cluster: SimulatedCluster, count: number): Promise<void> {
  for (let changed = 0; changed < count; changed += 1) {
    cluster.changeAccount(changed)
    await cluster.time.sleep(SECOND)
  }
}

/** So many instances, from all over the list. */
function spread(instances: readonly SimulatedInstance[], count: number): SimulatedInstance[] {
  return instances
    .filter(
      (_, index) =>
        Math.floor((index * count) / instances.length) !== Math.floor(((index - 1) * count) / instances.length),
    )
    .slice(0, count)
}

function at(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN
}
