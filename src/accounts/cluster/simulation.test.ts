import { expect, it } from 'vitest'
import { SimulatedCluster } from '../../../test/kit/cluster/simulated-cluster.ts'

const INSTANCES = 20
const ACCOUNTS = 2000
const SECOND = 1000

/** A database that is never the limit. */
const COSTS = {
  statementMs: 0.03,
  readRowMs: 0.001,
  countedRowMs: 0.0002,
  lookupMs: 0.004,
  lockMs: 0.001,
  writtenRowMs: 0.02,
  roundTripMs: 0.5,
  cores: 4,
}

/** A dead instance is proven by three reads over 3 s. Then all others take its accounts, over 100 ms and 2 ms for each of them. */
const TAKE_OVER_MS = 5 * SECOND

interface Setup {
  accounts?: number
  clocks?: readonly { clockAheadMs?: number; clockRate?: number }[]
}

/** Instances that have shared the accounts. The clocks of the first ones may be wrong. */
async function balanced({ accounts = ACCOUNTS, clocks = [] }: Setup = {}): Promise<SimulatedCluster> {
  const cluster = new SimulatedCluster(COSTS, accounts)
  for (let started = 0; started < INSTANCES; started += 1) void cluster.start(clocks[started])
  await cluster.time.pass(120 * SECOND)
  expectFairShares(cluster)
  cluster.database.takeLoads()
  cluster.bus.takeCounts()
  cluster.takeMoves()
  return cluster
}

/** Every account has one owner, and no instance has two more than another. */
function expectFairShares(cluster: SimulatedCluster): void {
  const counts = cluster.counts()
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(cluster.store.accountCount)
}

it('gives instances that start at once fair shares', async () => {
  const cluster = await balanced()
  expect(cluster.living).toHaveLength(INSTANCES)
})

it('moves no account, publishes no hint and reads each account once a minute while nothing happens', async () => {
  const cluster = await balanced()
  await cluster.time.pass(60 * SECOND)
  const loads = cluster.database.takeLoads()
  expect(cluster.bus.takeCounts().published).toBe(0)
  expect(cluster.takeMoves()).toBe(0)
  expect(loads.get('read own')?.rowsRead).toBe(ACCOUNTS)
  expect([...loads.keys()].sort()).toEqual(['find free', 'heartbeat', 'instances', 'locks', 'read own', 'shares'])
})

it('lists the locks ten times a second, with any number of instances', async () => {
  const cluster = await balanced()
  await cluster.time.pass(60 * SECOND)
  expect(cluster.database.takeLoads().get('locks')?.statements).toBeLessThan(15 * 60)
})

for (const killed of [1, 10]) {
  it(`takes over all accounts of ${killed} killed instances in time, and moves few others`, async () => {
    const cluster = await balanced()
    const lost = (killed * ACCOUNTS) / INSTANCES
    for (const instance of cluster.living.slice(0, killed)) cluster.kill(instance)
    await cluster.time.pass(60 * SECOND)
    const times = cluster.takeOversMs()
    expect(times).toHaveLength(lost)
    expect(Math.max(...times)).toBeLessThanOrEqual(TAKE_OVER_MS)
    expect(cluster.takeMoves()).toBeLessThanOrEqual(lost + INSTANCES)
    expectFairShares(cluster)
  })
}

it('takes over the accounts of a stopped instance at once', async () => {
  const cluster = await balanced()
  const [first] = cluster.living
  if (first === undefined) throw new Error('no instance')
  void cluster.stop(first)
  await cluster.time.pass(2 * SECOND)
  expect(cluster.takeOversMs()).toHaveLength(ACCOUNTS / INSTANCES)
  await cluster.time.pass(30 * SECOND)
  expectFairShares(cluster)
})

it('gives instances that join fair shares', async () => {
  const cluster = await balanced()
  for (let joined = 0; joined < 5; joined += 1) void cluster.start()
  await cluster.time.pass(60 * SECOND)
  expect(cluster.living).toHaveLength(INSTANCES + 5)
  expectFairShares(cluster)
})

it('moves no account when a clock is wrong or the database pauses', async () => {
  const cluster = await balanced({ clocks: [{ clockAheadMs: 10 * SECOND }, { clockRate: 1.02 }, { clockRate: 0.98 }] })
  cluster.database.pause(10 * SECOND)
  await cluster.time.pass(60 * SECOND)
  expect(cluster.takeMoves()).toBe(0)
  expect(cluster.living).toHaveLength(INSTANCES)
  expectFairShares(cluster)
})

it('asks the database about a changed account once, and no other instance', async () => {
  const cluster = await balanced()
  await cluster.time.pass(1 * SECOND)
  cluster.database.takeLoads()
  cluster.changeAccount(7)
  await cluster.time.pass(SECOND / 2)
  const reads = cluster.database.takeLoads().get('read own')
  expect(reads?.rowsRead).toBe(1)
})
