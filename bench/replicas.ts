import { findServer } from '../test/kit/database/postgres-server.ts'
import { userNames } from '../test/scenarios/mailboxes.ts'
import { startDovecot } from '../test/servers/dovecot.ts'
import { startRecorder } from './recorder.ts'
import { type Installation, openInstallation } from './replicas/installation.ts'
import { type Load, type LoadFigures, openDeliveries, openNewMail } from './replicas/loads.ts'
import { measureTakeOver } from './replicas/take-over.ts'
import { inTurns } from './rounds.ts'
import { judge, sayVerdict } from './verdict.ts'

/** Each is compared with one instance. */
const INSTANCES = (process.env.BENCH_INSTANCES ?? '1,2,4').split(',').map(Number)
/** What to measure, separated by commas. */
const PARTS = (process.env.BENCH_PARTS ?? 'deliveries,mail,take-over').split(',')
/** The part of a core that each instance may use. All of them, the databases and the load must fit into the machine. */
const SHARE = Number(process.env.BENCH_SHARE ?? 0.1)
/** For each instance, in each round. */
const DELIVERIES = Number(process.env.BENCH_ROWS ?? 1000)
const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 400)
/** Of each installation. */
const MAILBOXES = 40
/** Before the shares are limited, so that V8 has compiled what is measured. */
const WARM_UP = 4
const SPEED_UP = 0.8

/**
 * Installations of 1, 2 and 4 instances on PostgreSQL and Redis, each instance limited to the same small part of a core, in turns with an
 * installation of one: deliveries, and new messages to their webhooks. Then how soon an instance takes over the accounts of one that was killed.
 */
export async function replicas(say: (line: string) => void): Promise<void> {
  const server = await findServer()
  if (server === undefined) return say('PostgreSQL could not be started.')
  const recorder = await startRecorder()
  const dovecot = await startDovecot()
  try {
    let mailInstallations = 0
    const nextUsers = () => {
      mailInstallations += 1
      return userNames(MAILBOXES).map((user) => `${mailInstallations}-${user}`)
    }
    for (const count of INSTANCES) {
      if (PARTS.includes('deliveries')) {
        await compare(say, server.url, { what: 'deliveries', count, amount: DELIVERIES }, (installation) =>
          openDeliveries(installation, recorder),
        )
      }
      if (PARTS.includes('mail')) {
        await compare(say, server.url, { what: 'new messages', count, amount: MESSAGES }, (installation) =>
          openNewMail(installation, recorder, dovecot, nextUsers()),
        )
      }
    }
    if (PARTS.includes('take-over')) await measureTakeOver(say, server.url, dovecot, recorder)
  } finally {
    recorder.stop()
    await dovecot.stop()
    await server.stop()
  }
}

interface Case {
  what: string
  /** Instances. */
  count: number
  /** For each instance. */
  amount: number
}

async function compare(
  say: (line: string) => void,
  serverUrl: string,
  { what, count, amount }: Case,
  open: (installation: Installation) => Promise<Load>,
): Promise<void> {
  const installations: Installation[] = []
  try {
    const loads: Load[] = []
    for (const instances of [count, 1]) {
      const installation = await openInstallation(serverUrl, instances)
      installations.push(installation)
      loads.push(await open(installation))
    }
    const [ours, one] = loads
    if (ours === undefined || one === undefined) throw new Error('unreachable')
    await ours.run(WARM_UP * count * amount)
    await one.run(WARM_UP * amount)
    for (const installation of installations) await installation.limit(SHARE)
    const figures: { ours: LoadFigures[]; one: LoadFigures[] } = { ours: [], one: [] }
    const note = async (into: LoadFigures[], running: Promise<LoadFigures>) => {
      const measured = await running
      into.push(measured)
      return measured.perSecond
    }
    const compared = await inTurns(
      () => note(figures.ours, ours.run(count * amount)),
      () => note(figures.one, one.run(amount)),
    )
    const about = { bench: 'replicas', what: `${what}, ${count} × ${SHARE} of a core`, unit: '/s' }
    sayVerdict(say, judge({ ...about, limit: { ratioAtLeast: SPEED_UP * count } }, compared))
    say(`  ${count} instance${count === 1 ? '' : 's'}: ${describe(figures.ours)}; one: ${describe(figures.one)}`)
  } finally {
    for (const installation of installations) await installation.close()
  }
}

/** `cores`: of each instance in the round in the middle. */
function describe(figures: readonly LoadFigures[]): string {
  const middle = figures.toSorted((left, right) => left.perSecond - right.perSecond)[Math.floor(figures.length / 2)]
  const repeated = figures.reduce((sum, one) => sum + one.repeated, 0)
  const cores = middle?.cores.map((one) => one.toFixed(3)).join(' + ')
  return `${middle?.cpuMsEach.toFixed(2)} ms of CPU each, ${cores} cores, ${repeated} repeated`
}
