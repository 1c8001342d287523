import { type ApiChanges, findApiChanges, StaleRead } from '../../../accounts/index.ts'
import { groupBy } from '../../../platform/group-by.ts'
import type { FoundMessage, MailboxSession } from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'
import { ingest, type MessageRow } from '../../messages/index.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { isNewArrival } from '../new-since.ts'

interface MissingContext extends OwnedAccount {
  session: MailboxSession
  /** The labels of the account by provider id. Lists the folders first if one of `paths` is unknown. */
  labels(paths: readonly string[]): Promise<ReadonlyMap<string, LabelRow>>
  signal: AbortSignal
}

/**
 * Asks the provider for messages that left their folder and were reported in no other. Those that exist are stored where they are, and
 * keep their id. Returns the ids of their rows, and of those of which the provider does not say whether they exist.
 */
export async function findExisting(
  deps: SyncDeps,
  context: MissingContext,
  rows: readonly MessageRow[],
): Promise<ReadonlySet<string>> {
  const { session, signal } = context
  const apiChanges = await findApiChanges(deps.db.read, context.accountId)
  const ids = rows.map(({ providerMessageId }) => providerMessageId)
  const { found, unknown } = (await session.readMessages?.(ids, signal)) ?? { found: [], unknown: [] }
  const labels = await context.labels(found.flatMap(({ folders }) => folders))
  for (const [folder, messages] of groupBy(found, ({ folders: [folder = ''] }) => folder)) {
    const scope = labels.get(folder)
    if (scope !== undefined) await storeFound(deps, { ...context, scope, labels, apiChanges }, messages)
  }
  const existing = new Set([...found.map(({ message }) => message.providerMessageId), ...unknown])
  return new Set(rows.flatMap(({ id, providerMessageId }) => (existing.has(providerMessageId) ? [id] : [])))
}

/** A message that was changed through the API meanwhile stays missing until the next sync asks again. */
async function storeFound(
  deps: SyncDeps,
  context: OwnedAccount & { scope: LabelRow; labels: ReadonlyMap<string, LabelRow>; apiChanges: ApiChanges },
  messages: readonly FoundMessage[],
): Promise<void> {
  try {
    const counts = await deps.db.transaction(async (tx) => {
      await deps.fence(tx, context.accountId, context.epoch)
      const { accountId, provider, scope, labels, apiChanges } = context
      return ingest.mailbox(tx, deps, {
        accountId,
        provider,
        scope,
        labels,
        found: messages,
        apiChanges,
        bodies: new Map(),
        isNew: (message, row) => isNewArrival(message, row, true, undefined, context.syncedAt()),
      })
    })
    context.onStored(counts)
  } catch (error) {
    if (!(error instanceof StaleRead)) throw error
  }
}
