import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startServiceProcess } from '../test/kit/service/process.ts'
import { client } from '../test/scenarios/client.ts'
import { connectMailboxes, PASSWORD, userNames } from '../test/scenarios/mailboxes.ts'
import { startDovecot } from '../test/servers/dovecot.ts'
import { startScriptedImap } from '../test/servers/scripted-imap.ts'
import type { BareIdlers } from './bare-idlers.ts'
import { startBareProcess } from './bare-process.ts'
import { cpuMs, readMemory } from './figures.ts'
import { judge, sayVerdict } from './verdict.ts'

type Server = Pick<BareIdlers, 'host' | 'port' | 'password'>

interface IdleCase {
  accounts: number
  /** Most of a core that the accounts may take, in %. */
  maxCpu: number
  withServer(users: readonly string[], run: (server: Server) => Promise<void>): Promise<void>
}

/** Five thousand connections to a real server take more memory than it has here, so that one is scripted. */
const CASES: readonly IdleCase[] = [
  { accounts: 1_000, maxCpu: 5, withServer: withDovecot },
  { accounts: 5_000, maxCpu: 15, withServer: withScripted },
]
const CHOSEN = (process.env.BENCH_ACCOUNTS ?? '1000,5000').split(',').map(Number)

/**
 * V8 gives memory back about 30 seconds after the last activity. The first minute has the first poll of every account after it
 * connected, which reads all that the next ones need not read again; the minute that is measured has a usual one.
 */
const MEASURED_MS = Number(process.env.BENCH_SECONDS ?? 60) * 1000
const SETTLING_MS = MEASURED_MS + 10_000
const MAX_EMPTY_MB = 100

interface Figures {
  megabytes: number
  /** Percent of a core, in the minute that is measured. */
  cpuPercent: number
}

/** Memory and CPU time of a service whose IMAP accounts receive nothing, beside as many bare imapflow clients in one process. */
export async function idle(say: (line: string) => void): Promise<void> {
  for (const { accounts, maxCpu, withServer } of CASES.filter((one) => CHOSEN.includes(one.accounts))) {
    const users = userNames(accounts)
    await withServer(users, async (server) => {
      const bare = await measureBare(server, users)
      const ours = await measureService(server, users)
      const about = (what: string) => ({ bench: 'idle', what: `${accounts.toLocaleString('en')} accounts, ${what}` })
      const samples = { ours: [ours.kilobytesEach], bare: [bare.kilobytesEach] }
      sayVerdict(say, judge({ ...about('each'), unit: 'kB', limit: { ratioAtMost: 1.5 } }, samples))
      const cpu = { ...about('of a core'), unit: '%', limit: { atMost: maxCpu } }
      sayVerdict(say, judge(cpu, { ours: [ours.full.cpuPercent] }))
      say(`bare clients: ${bare.full.cpuPercent.toFixed(1)} % of a core, ${bare.full.megabytes.toFixed(0)} MB in all`)
      const empty = { bench: 'idle', what: 'no accounts', unit: 'MB', limit: { atMost: MAX_EMPTY_MB } }
      sayVerdict(say, judge(empty, { ours: [ours.empty.megabytes] }))
    })
  }
}

interface Measured {
  empty: Figures
  full: Figures
  /** Memory that each account adds to the empty process. */
  kilobytesEach: number
}

export async function measureService({ host, port }: Server, users: readonly string[]): Promise<Measured> {
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-bench-'))
  const service = await startServiceProcess({ dataDir, env: { LOG_LEVEL: 'info' } })
  try {
    const empty = await settle(service.pid)
    await connectMailboxes(client(service.url, service.key), { host, imapsPort: port }, users)
    return compare(empty, await settle(service.pid), users.length)
  } finally {
    await service.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function measureBare(server: Server, users: readonly string[]): Promise<Measured> {
  const empty = await withIdlers({ ...server, users: [] }, settle)
  const full = await withIdlers({ ...server, users }, settle)
  return compare(empty, full, users.length)
}

async function withIdlers(options: BareIdlers, measure: (pid: number) => Promise<Figures>): Promise<Figures> {
  const bare = await startBareProcess('bench/bare-idlers.ts', options)
  try {
    return await measure(bare.pid)
  } finally {
    bare.stop()
  }
}

async function settle(pid: number): Promise<Figures> {
  await sleep(SETTLING_MS)
  const before = await cpuMs(pid)
  const startedMs = performance.now()
  await sleep(MEASURED_MS)
  const cpuPercent = (100 * ((await cpuMs(pid)) - before)) / (performance.now() - startedMs)
  return { megabytes: (await readMemory(pid)).shared / 1024 / 1024, cpuPercent }
}

function compare(empty: Figures, full: Figures, accounts: number): Measured {
  return { empty, full, kilobytesEach: ((full.megabytes - empty.megabytes) * 1024) / accounts }
}

async function withDovecot(users: readonly string[], run: (server: Server) => Promise<void>): Promise<void> {
  const dovecot = await startDovecot()
  try {
    for (const user of users) await dovecot.addUser(user, PASSWORD)
    await run({ host: dovecot.host, port: dovecot.imapsPort, password: PASSWORD })
  } finally {
    await dovecot.stop()
  }
}

export async function withScripted(_users: readonly string[], run: (server: Server) => Promise<void>): Promise<void> {
  const server = await startScriptedImap({})
  try {
    await run({ host: '127.0.0.1', port: server.access.settings.imap?.port ?? 0, password: PASSWORD })
  } finally {
    await server.close()
  }
}
