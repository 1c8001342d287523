import type { Db } from '../src/platform/db/index.ts'
import { openDatabase } from '../test/kit/database/open-database.ts'
import { administer } from '../test/kit/database/postgres-server.ts'
import { median } from './figures.ts'
import { backup } from './growth/backup.ts'
import { deliver } from './growth/deliver.ts'
import { erase } from './growth/erase.ts'
import { seedEvents } from './growth/event-seed.ts'
import { fitExponent, type Point } from './growth/exponent.ts'
import { fullSync } from './growth/full-sync.ts'
import { idleGrowth } from './growth/idle.ts'
import { list } from './growth/list.ts'
import { retention } from './growth/retention.ts'
import type { Done, FilledStore, Work } from './growth/work.ts'
import { completeSearchIndex, type ListSeed, seedForList } from './list-pages.ts'
import { keepSeed, onStoreSets, type Place, seedOnce } from './stores.ts'
import { judge, sayVerdict } from './verdict.ts'

/** Messages of each store, and as many events with their deliveries. */
const SIZES = (process.env.BENCH_SIZES ?? '100000,1000000').split(',').map(Number)
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)
const WORKS = [list, fullSync, deliver, backup, retention, erase]
/** The works to measure, by the beginnings of their names; `idle` is another one. */
const CHOSEN = (process.env.BENCH_WORKS ?? [...WORKS.map(({ name }) => name), 'idle'].join(',')).split(',')
const MAX_EXPONENT = 1.05
const MAX_HELD_MS = 20
/** Messages of the account that is listed. */
const LISTED = 50_000
/** Above the positions of events that rounds add and delete. */
const FIRST_POSITION = 1_000_000_000

/**
 * How costs grow with the store: what each item costs the service in CPU time at each size, and the exponent of a power law through the
 * costs of as many items as the store has messages. 1 is a straight line. The sizes take turns. Rows are counted after each work.
 */
export async function growth(say: (line: string) => void): Promise<void> {
  const works = WORKS.filter(({ name }) => CHOSEN.some((chosen) => name.startsWith(chosen)))
  if (CHOSEN.includes('idle')) await idleGrowth({ atMost: MAX_EXPONENT }, say)
  if (works.length === 0) return
  const hasEvents = works.some(({ needsEvents }) => needsEvents === true)
  const suffixes = SIZES.map((size) => `_${size}`)
  await onStoreSets(say, suffixes, async (title, places) => {
    const stores: FilledStore[] = []
    for (const [index, place] of places.entries()) {
      const [size = 0, startedMs] = [SIZES[index], performance.now()]
      const seed = (earlier: Filled | undefined) => fill(place, { size, hasEvents }, earlier)
      stores.push({ ...(await seedOnce(place, seed)), place })
      const seconds = Math.round((performance.now() - startedMs) / 1000)
      say(`${title}, ${size.toLocaleString('en')} messages, stored in ${seconds} s`)
    }
    for (const work of works) await measure(title, work, stores, say)
  })
}

async function measure(
  title: string,
  work: Work,
  stores: readonly FilledStore[],
  say: (line: string) => void,
): Promise<void> {
  const done = new Map<FilledStore, Done[]>(stores.map((store) => [store, []]))
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const store of stores) {
      done.get(store)?.push(await work.run(store, round))
      // Accounts may have been erased.
      const { place, ...filled } = store
      await keepSeed(place, filled)
    }
  }
  const points: Point[] = []
  for (const [{ size }, rounds] of done) {
    const what = `${title}, ${work.name}, ${size.toLocaleString('en')} messages`
    const costs = rounds.map(({ cpuMs, items }) => cpuMs / items)
    points.push({ size, cost: median(costs) * size })
    const each = (ms: number) => (ms * 1000).toLocaleString('en', { maximumSignificantDigits: 3 })
    say(`${what.padEnd(48)} ${each(median(costs))} µs of CPU for each ${work.item} (${costs.map(each).join(', ')})`)
    const held = rounds.flatMap(({ held: times }) => times ?? [])
    if (held.length === 0) continue
    const about = { bench: 'growth', unit: 'ms', limit: { atMost: MAX_HELD_MS } }
    const longest = { ours: [Math.max(...held.map(({ heldMs }) => heldMs))] }
    sayVerdict(say, judge({ ...about, what: `${what}, loop held` }, longest))
    const turn = { ours: [Math.max(...held.map(({ turnCpuMs }) => turnCpuMs))] }
    sayVerdict(say, judge({ ...about, what: `${what}, CPU of a turn` }, turn))
  }
  if (points.length < 2) return
  const about = { bench: 'growth', what: `${title}, ${work.name}, exponent`, unit: '', limit: { atMost: MAX_EXPONENT } }
  sayVerdict(say, judge(about, { ours: [fitExponent(points)] }))
}

type Filled = Omit<FilledStore, 'place'>

async function fill(
  place: Place,
  { size, hasEvents }: Pick<Filled, 'size' | 'hasEvents'>,
  earlier: Filled | undefined,
): Promise<Filled> {
  if (earlier === undefined) await completeSearchIndex(place)
  const db = openDatabase(place)
  try {
    const seed: ListSeed = await seedForList(db, { messages: LISTED, total: size }, earlier?.seed)
    if (hasEvents && earlier?.hasEvents !== true) await addEvents(db, size)
    // Autovacuum does this in operation; the test server has none.
    if (db.engine === 'postgres') await administer(place.databaseUrl ?? '', 'vacuum analyze')
    return { size, seed, hasEvents: hasEvents || earlier?.hasEvents === true }
  } finally {
    await db.close()
  }
}

/** Newer than what retention deletes. */
async function addEvents(db: Db, size: number): Promise<void> {
  await seedEvents(db, { count: size, mark: 'k', ageDays: 1, afterPosition: FIRST_POSITION })
}
