import type {
  FolderMailProvider,
  FolderStep,
  IdMailProvider,
  MailAccess,
  MailboxStep,
  MessageBody,
} from '../../providers/contract/index.ts'
import type { LabelRow } from '../labels/index.ts'
import { arrivalType, type EventBodies, messageStore } from '../messages/index.ts'
import type { SyncDeps } from './deps.ts'
import { isNewArrival } from './new-since.ts'
import type { CursorRow } from './store.ts'

/**
 * Reads the bodies of messages that will be announced, by UID, when events include bodies. It runs before the transaction. A body
 * that cannot be read is left out, so that its event is not delayed.
 */
export async function eventBodies(
  deps: SyncDeps,
  mail: FolderMailProvider,
  accountId: string,
  label: LabelRow,
  step: FolderStep,
): Promise<ReadonlyMap<number, EventBodies>> {
  if (!deps.settings.includeBodies || arrivalType(label.role) === undefined) return new Map()
  const locations = step.added.flatMap(({ isNew, location, unreadable }) =>
    isNew && location !== undefined && unreadable === undefined ? [location] : [],
  )
  if (locations.length === 0) return new Map()
  const live = mail.liveReads(await deps.accounts.access(accountId))
  return readBodies(
    deps,
    accountId,
    locations,
    ({ uid }) => uid,
    ({ uidValidity, uid }) => live.getBody({ folderPath: label.providerId, uidValidity, uid }),
  )
}

/** Does the same for messages with ids, by the provider's message id. */
export async function mailboxBodies(
  deps: SyncDeps,
  mail: IdMailProvider,
  access: MailAccess,
  step: MailboxStep,
  position: CursorRow | undefined,
  syncedAt: number,
): Promise<ReadonlyMap<string, EventBodies>> {
  if (!deps.settings.includeBodies) return new Map()
  const { accountId } = access
  const announced = step.found
    .map(({ message }) => message)
    .filter((message) => isNewArrival(message, message, step.refetched, position, syncedAt))
  const ids = announced.map((message) => message.providerMessageId)
  const rows = await messageStore(deps.db.read).byProviderIds(accountId, ids)
  const storedIds = new Set(rows.map((row) => row.providerMessageId))
  const unknown = ids.filter((id) => !storedIds.has(id))
  if (unknown.length === 0) return new Map()
  const live = mail.liveReads(access)
  return readBodies(
    deps,
    accountId,
    unknown,
    (id) => id,
    (id) => live.getBody({ providerMessageId: id }),
  )
}

async function readBodies<Ref, Key>(
  deps: SyncDeps,
  accountId: string,
  refs: readonly Ref[],
  toKey: (ref: Ref) => Key,
  read: (ref: Ref) => Promise<MessageBody>,
): Promise<ReadonlyMap<Key, EventBodies>> {
  const bodies = new Map<Key, EventBodies>()
  for (const ref of refs) {
    try {
      const { text, html } = await read(ref)
      bodies.set(toKey(ref), { text, html })
    } catch (error) {
      deps.log.warn('Cannot read a message body. The event is sent without it.', {
        accountId,
        operation: 'sync.body',
        error,
      })
    }
  }
  return bodies
}
