import { connectMailboxes, numberedMessage, PASSWORD, subscribe } from '../test/scenarios/mailboxes.ts'
import { percentile, spread } from './figures.ts'
import { slowStatements } from './new-mail.ts'
import { deliverLive } from './paced-mail.ts'
import { startProber } from './prober.ts'
import { withStage } from './stage.ts'

const MESSAGES = Number(process.env.BENCH_ROWS ?? 100_000)
const USER = 'bench@mail.example'
const MAX_SLOWDOWN = 1.5
const MAX_HEALTH_MS = 50

interface Backfill {
  status: string
  processed: number
  total: number | null
  ratePerMinute: number | null
  lastError: string | null
}

/**
 * Backfills a mailbox of 100,000 messages (`BENCH_ROWS`) while messages arrive in it. Measures the time from a delivery to the arrival of
 * the signed webhook, without and with the backfill, and `/health/live`. `DATABASE_URL` runs it on PostgreSQL.
 */
export async function backfill(say: (line: string) => void): Promise<void> {
  const { DATABASE_URL } = process.env
  await withStage(
    async ({ dovecot, application, api, service }) => {
      await dovecot.addUser(USER, PASSWORD)
      await dovecot.deliverMany(USER, oldMessages())
      await subscribe(api, application, ['message.received'])
      const accounts = await connectMailboxes(api, dovecot, [USER])
      const accountId = accounts.get(USER) ?? ''
      const mailbox = { dovecot, application, user: USER }
      const prober = await startProber(service.url, `/accounts/${accountId}/messages?limit=50`, service.key)
      try {
        const alone = await deliverLive(mailbox, 'alone', () => false)
        await prober.take()

        await api.call('PUT', '/historical-sync/config', { batchSize: 1000, delayBetweenBatches: 0 })
        const startedMs = performance.now()
        await api.call('POST', `/historical-sync/start/${accountId}`)
        let state: Backfill | undefined
        let tookMs = 0
        const isRunning = async () => {
          state = await api.call<Backfill>('GET', `/historical-sync/${accountId}`)
          if (state.status !== 'running' && tookMs === 0) tookMs = performance.now() - startedMs
          return state.status === 'running'
        }
        const beside = await deliverLive(mailbox, 'beside', isRunning)
        const samples = await prober.take()
        if (state?.status !== 'completed') throw new Error(`The backfill is ${state?.status}: ${state?.lastError}`)

        const rate = Math.round((state.processed / tookMs) * 1000)
        const slowdown = percentile(beside, 0.5) / percentile(alone, 0.5)
        const healthMs = percentile(samples.live, 0.99)
        say(
          `backfilled                       ${state.processed} messages in ${(tookMs / 1000).toFixed(1)} s, ${rate}/s`,
        )
        say(`live mail, without a backfill    ${spread(alone)}`)
        say(`live mail, beside it             ${spread(beside)}`)
        say(
          `slowdown of the median           ${slowdown.toFixed(2)} × (limit ${MAX_SLOWDOWN})  ${verdict(slowdown <= MAX_SLOWDOWN)}`,
        )
        say(
          `/health/live, p99                ${healthMs.toFixed(1)} ms (limit ${MAX_HEALTH_MS})  ${verdict(healthMs <= MAX_HEALTH_MS)}`,
        )
        say(`list page, p99                   ${percentile(samples.list, 0.99).toFixed(1)} ms`)
        say(`slow statements (over 20 ms)     ${slowStatements(service.output())}`)
      } finally {
        prober.stop()
      }
    },
    { SYNC_INITIAL_MESSAGES: '100', ...(DATABASE_URL !== undefined && { DATABASE_URL }) },
  )
}

function* oldMessages(): Iterable<Buffer> {
  for (let index = 0; index < MESSAGES; index += 1) yield Buffer.from(numberedMessage(`old-${index}`))
}

const verdict = (isWithin: boolean) => (isWithin ? 'ok' : 'MISSED')
