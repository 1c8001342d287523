import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { SourceMap } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../test/kit/eventually.ts'
import { startServiceProcess } from '../test/kit/service/process.ts'
import { type Client, client } from '../test/scenarios/client.ts'
import { startScriptedImap } from '../test/servers/scripted-imap.ts'

const ACCOUNTS = Number(process.env.BENCH_ACCOUNTS ?? 3000)
const AT_ONCE = 16
const PATIENCE_MS = 600_000
/** One poll of every account, with its jitter. */
const POLLS_MS = 70_000
const HEARTBEAT_MS = 5_000
const SCHEDULER = 'src/platform/schedule/'

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number } }[]
  samples: number[]
  timeDeltas: number[]
}

interface Totals {
  completed: number
  failed: number
  waiting: number
  active: number
}

/** 3,000 accounts of one scripted IMAP host: the scheduler's share of the CPU when they start, and the writes of their idle polls. */
export async function manyAccounts(say: (line: string) => void): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-bench-'))
  const server = await startScriptedImap({})
  try {
    const linking = await startServiceProcess({ dataDir })
    await link(client(linking.url, linking.key), server.access.settings.imap?.port ?? 0)
    await linking.stop()

    const file = join(dataDir, 'start.cpuprofile')
    const profiling = { NODE_OPTIONS: `--import=${resolve('test/kit/service/cpu-probe.mjs')}`, CPU_PROFILE: file }
    const startedMs = performance.now()
    const starting = await startServiceProcess({ dataDir, env: profiling })
    const totals = await allRan(client(starting.url, starting.key))
    say(
      `${ACCOUNTS} accounts ran once ${seconds(performance.now() - startedMs)} after the start (${totals.failed} failures)`,
    )
    await starting.stop()
    const { scheduler, busy } = await selfTime(JSON.parse(await readFile(file, 'utf8')))
    const share = ((100 * scheduler) / busy).toFixed(2)
    say(`CPU self time of the scheduler ${milliseconds(scheduler)} of ${milliseconds(busy)}: ${share} %`)

    const idling = await startServiceProcess({ dataDir })
    const api = client(idling.url, idling.key)
    const before = await allRan(api)
    const wal = join(dataDir, 'posthorn.db-wal')
    const first = await commitsIn(wal)
    await sleep(POLLS_MS)
    const written = (await commitsIn(wal)) - first
    const polls = (await status(api)).completed - before.completed
    await idling.stop()
    say(
      `${polls} idle polls in ${seconds(POLLS_MS)}: ${written} commits, with about ${POLLS_MS / HEARTBEAT_MS} heartbeats`,
    )
  } finally {
    await server.close()
    await rm(dataDir, { recursive: true, force: true })
  }
}

/**
 * The commits in a WAL file (https://www.sqlite.org/fileformat2.html#walformat): the frames that name a size of the database. Frames
 * of an earlier round have another salt.
 */
async function commitsIn(walFile: string): Promise<number> {
  const wal = await readFile(walFile)
  const pageSize = wal.readUInt32BE(8)
  const salt = wal.readBigUInt64BE(16)
  let commits = 0
  for (let frame = 32; frame + 24 + pageSize <= wal.length; frame += 24 + pageSize) {
    if (wal.readBigUInt64BE(frame + 8) !== salt) break
    if (wal.readUInt32BE(frame + 4) > 0) commits += 1
  }
  return commits
}

async function link(api: Client, port: number): Promise<void> {
  let next = 0
  const linkSome = async () => {
    while (next < ACCOUNTS) {
      const user = `user${next++}@mail.example`
      const server = { host: '127.0.0.1', port, secure: true, allowSelfSigned: true }
      await api.call('POST', '/accounts', {
        provider: 'imap',
        email: user,
        username: user,
        password: 'secret',
        ...server,
      })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, linkSome))
}

const status = (api: Client) => api.call<Totals>('GET', '/debounced-queue/status')

async function allRan(api: Client): Promise<Totals> {
  return eventually(
    async () => {
      const totals = await status(api)
      if (totals.completed < ACCOUNTS || totals.waiting + totals.active > 0) throw new Error(JSON.stringify(totals))
      return totals
    },
    PATIENCE_MS,
    250,
  )
}

/** By the name of the bundled file. */
async function sourceMaps(): Promise<Map<string, SourceMap>> {
  const names = (await readdir('dist')).filter((name) => name.endsWith('.js.map'))
  const read = async (name: string) => new SourceMap(JSON.parse(await readFile(join('dist', name), 'utf8')))
  return new Map(await Promise.all(names.map(async (name) => [name.slice(0, -4), await read(name)] as const)))
}

/** Microseconds in the scheduler's own frames, and in all frames but the idle one. */
async function selfTime({ nodes, samples, timeDeltas }: Profile): Promise<{ scheduler: number; busy: number }> {
  const maps = await sourceMaps()
  const kinds = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber, columnNumber } }) => {
      if (functionName === '(idle)') return [id, 'idle']
      const entry = maps.get(basename(url))?.findEntry(lineNumber, columnNumber) ?? {}
      const isScheduler = 'originalSource' in entry && String(entry.originalSource).includes(SCHEDULER)
      return [id, isScheduler ? 'scheduler' : 'other']
    }),
  )
  let scheduler = 0
  let busy = 0
  for (const [index, id] of samples.entries()) {
    const kind = kinds.get(id)
    const micros = timeDeltas[index] ?? 0
    if (kind !== 'idle') busy += micros
    if (kind === 'scheduler') scheduler += micros
  }
  return { scheduler, busy }
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
const milliseconds = (micros: number) => `${(micros / 1000).toFixed(0)} ms`
