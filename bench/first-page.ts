import { checkSame, connectByForm, fetchFirstBare, fillMailbox, PAGE } from './first-listed.ts'
import { inTurns } from './rounds.ts'
import { withStage } from './stage.ts'
import { judge, sayVerdict } from './verdict.ts'

const MESSAGES = 10_000

/**
 * A mailbox with 10,000 messages: from the post of the hosted form until `GET /messages` returns the newest 50. Beside it a bare imapflow
 * client that connects, selects the folder and fetches what the 50 consist of. The first post is also the first request of the process.
 */
export async function firstPage(say: (line: string) => void): Promise<void> {
  const env = { SYNC_INITIAL_MESSAGES: String(MESSAGES), PUBLIC_URL: 'http://127.0.0.1' }
  await withStage(async (stage) => {
    await fillMailbox(stage.dovecot, MESSAGES)
    const { subjects: expected } = await fetchFirstBare(stage.dovecot)
    const compared = await inTurns(
      async (round) => {
        const { sincePostMs, subjects } = await connectByForm(stage, `run-${round}`, MESSAGES)
        checkSame(subjects, expected)
        return sincePostMs
      },
      async () => (await fetchFirstBare(stage.dovecot)).tookMs,
    )
    const what = `newest ${PAGE} of 10,000, since the form`
    sayVerdict(say, judge({ bench: 'first-page', what, unit: 'ms', limit: { ratioAtMost: 2.5 } }, compared))
  }, env)
}
