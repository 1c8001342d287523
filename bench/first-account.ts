import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startServiceProcess } from '../test/kit/service/process.ts'
import { client } from '../test/scenarios/client.ts'
import { type Dovecot, startDovecot } from '../test/servers/dovecot.ts'
import { checkSame, connectByForm, fetchFirstBare, fillMailbox, PAGE } from './first-listed.ts'
import { inTurns } from './rounds.ts'
import { judge, sayVerdict } from './verdict.ts'

const MESSAGES = 10_000
/** How long the service has been healthy when the first request arrives. */
const SETTLED_MS = 1_000

/**
 * Measures how long the first user of a new installation waits: from the creation of a session until `GET /messages` returns the newest 50 of 10,000
 * messages, by a process that became healthy a second ago. Beside it a bare imapflow client that fetches what the 50 consist of.
 */
export async function firstAccount(say: (line: string) => void): Promise<void> {
  const dovecot = await startDovecot()
  try {
    await fillMailbox(dovecot, MESSAGES)
    const { subjects: expected } = await fetchFirstBare(dovecot)
    const compared = await inTurns(
      () => connectOnNewService(dovecot, expected),
      async () => (await fetchFirstBare(dovecot)).tookMs,
    )
    const what = `newest ${PAGE} of 10,000, since the session`
    sayVerdict(say, judge({ bench: 'first-account', what, unit: 'ms', limit: { ratioAtMost: 2.5 } }, compared))
  } finally {
    await dovecot.stop()
  }
}

async function connectOnNewService(dovecot: Dovecot, expected: readonly string[]): Promise<number> {
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-bench-'))
  const env = { SYNC_INITIAL_MESSAGES: String(MESSAGES), PUBLIC_URL: 'http://127.0.0.1' }
  const service = await startServiceProcess({ dataDir, env })
  try {
    await sleep(SETTLED_MS)
    const api = client(service.url, service.key)
    const { sinceSessionMs, subjects } = await connectByForm({ api, service, dovecot }, 'first', MESSAGES)
    checkSame(subjects, expected)
    return sinceSessionMs
  } finally {
    await service.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}
