import { findServer } from '../test/kit/database/postgres-server.ts'
import { userNames } from '../test/scenarios/mailboxes.ts'
import { startDovecot } from '../test/servers/dovecot.ts'
import { type Recorder, startRecorder } from './recorder.ts'
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
/** For each instance. */
const MAILBOXES = 20
/** Before the shares are limited, so that V8 has compiled what is measured. */
const WARM_UP = 4
const SPEED_UP = 0.8

/**
 * Installations of 1, 2 and 4 instances on PostgreSQL and Redis, each instance limited to the same small part of a core, in turns with an
 * installation of one: deliveries, and new messages to their webhooks. As many installations of one, at once, show what the machine itself loses.
 * Then how soon an instance takes over the accounts of one that was killed.
 */
export async function replicas(say: (line: string) => void): Promise<void> {
  const server = await findServer()
  if (server === undefined) return say('PostgreSQL could not be started.')
  const dovecot = await startDovecot()
  try {
    let mailInstallations = 0
    const nextUsers = ({ instances }: Installation) => {
      mailInstallations += 1
      return userNames(MAILBOXES * instances.length).map((user) => `${mailInstallations}-${user}`)
    }
    for (const count of INSTANCES) {
      if (PARTS.includes('deliveries')) {
        await compare(say, server.url, { what: 'deliveries', count, amount: DELIVERIES }, openDeliveries)
      }
      if (PARTS.includes('mail')) {
        await compare(say, server.url, { what: 'new messages', count, amount: MESSAGES }, (installation, recorder) =>
          openNewMail(installation, recorder, dovecot, nextUsers(installation)),
        )
      }
    }
    if (PARTS.includes('take-over')) await measureTakeOver(say, server.url, dovecot)
  } finally {
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
  open: (installation: Installation, recorder: Recorder) => Promise<Load>,
): Promise<void> {
  const opened: Measured[] = []
  try {
    for (const instances of [count, ...Array<number>(count).fill(1)]) {
      const measured = await openMeasured(serverUrl, instances, open)
      opened.push(measured)
      await measured.load.run(WARM_UP * instances * amount)
    }
    for (const { installation } of opened) await installation.limit(SHARE)
    const [together, ...singles] = opened
    const [one] = singles
    if (together === undefined || one === undefined) throw new Error('unreachable')
    const figures: Record<'together' | 'one' | 'apart', LoadFigures[]> = { together: [], one: [], apart: [] }
    const compared = await inTurns(
      async () => {
        const measured = await together.load.run(count * amount)
        figures.together.push(measured)
        return measured.perSecond
      },
      async () => {
        const measured = await one.load.run(amount)
        figures.one.push(measured)
        if (count > 1) figures.apart.push(sumUp(await Promise.all(singles.map(({ load }) => load.run(amount)))))
        return measured.perSecond
      },
    )
    const about = { bench: 'replicas', what: `${what}, ${count} × ${SHARE} of a core`, unit: '/s' }
    sayVerdict(say, judge({ ...about, limit: { ratioAtLeast: SPEED_UP * count } }, compared))
    say(`  ${count} together: ${describe(figures.together)}`)
    say(`  one: ${describe(figures.one)}`)
    if (count > 1) say(`  ${count} installations of one, at once: ${describe(figures.apart)}`)
  } finally {
    for (const { installation, recorder } of opened) {
      await installation.close()
      recorder.stop()
    }
  }
}

interface Measured {
  installation: Installation
  recorder: Recorder
  load: Load
}

async function openMeasured(
  serverUrl: string,
  instances: number,
  open: (installation: Installation, recorder: Recorder) => Promise<Load>,
): Promise<Measured> {
  const installation = await openInstallation(serverUrl, instances)
  const recorder = await startRecorder()
  return { installation, recorder, load: await open(installation, recorder) }
}

/** Of installations that began at once with equal loads. They share nothing but the machine, so what they lose is its. */
function sumUp(figures: readonly LoadFigures[]): LoadFigures {
  const sum = (read: (one: LoadFigures) => number) => figures.reduce((total, one) => total + read(one), 0)
  return {
    // All have done their work when the slowest one has.
    perSecond: figures.length * Math.min(...figures.map(({ perSecond }) => perSecond)),
    cpuMsEach: sum(({ cpuMsEach }) => cpuMsEach) / figures.length,
    cores: figures.flatMap(({ cores }) => cores),
    repeated: sum(({ repeated }) => repeated),
  }
}

/** `cores`: of each instance in the round in the middle. */
function describe(figures: readonly LoadFigures[]): string {
  const middle = figures.toSorted((left, right) => left.perSecond - right.perSecond)[Math.floor(figures.length / 2)]
  const repeated = figures.reduce((sum, one) => sum + one.repeated, 0)
  const cores = middle?.cores.map((one) => one.toFixed(3)).join(' + ')
  return `${middle?.perSecond.toFixed(0)}/s, ${middle?.cpuMsEach.toFixed(2)} ms of CPU each, ${cores} cores, ${repeated} repeated`
}
