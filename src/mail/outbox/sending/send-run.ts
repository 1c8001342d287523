import { leasedRows } from '../../../platform/db/index.ts'
import type { Run } from '../../../platform/queue/index.ts'
import { AccountRun, type SendRunDeps } from './account-run.ts'
import { OUTBOX } from './claims.ts'
import { CopyGate } from './copy-gate.ts'

/** After this long the account goes to the back of the queue, so that other accounts get a worker. */
const MAX_RUN_MS = 60_000

/**
 * The run of the queue `send`, whose job keys are account ids:
 *
 *     claim ─▶ queued: send ──▶ refused for now ──▶ queued again, later
 *                      │   └──▶ refused ──────────▶ failed, event
 *                      ├──────▶ no reply, crash ──▶ uncertain
 *                      └──────▶ accepted ─────────▶ sent, copy pending
 *           ─▶ uncertain: search in Sent (`uncertain.ts`) ─▶ sent, or a later search, or event
 *           ─▶ sent: save the copy (`sent-copies.ts`), delete the draft (`after-sending.ts`), send it to those refused for now (`send-to-deferred.ts`)
 *           ─▶ cancelled: remove the draft that an attempt has left at the provider
 *
 * `attempts.ts` has what happens to one message. What takes longer than `hungMs` goes on beside the rest of the run, which does not end
 * before it.
 */
export function sendRun(deps: SendRunDeps, stopping: AbortSignal): Run {
  const lastSentAt = new Map<string, number>()
  const gate = new CopyGate(deps.clock)
  return async (accountId, { signal }) => {
    const run = new AccountRun(deps, accountId, { signal, stopping, lastSentAt, gate })
    const endsAt = deps.clock.monotonic() + MAX_RUN_MS
    try {
      for (let worked = true; worked && !stopping.aborted && !signal.aborted; ) {
        if (deps.clock.monotonic() > endsAt && !run.hasHung) return { nextRunInMs: 0 }
        worked = await run.next()
      }
    } finally {
      await run.close()
    }
    const { db } = deps
    const dueAt = await leasedRows(db.read, db.dialect, OUTBOX).nextDueAt(accountId)
    return dueAt === undefined ? undefined : { nextRunInMs: Math.max(0, dueAt - deps.clock.now()) }
  }
}
