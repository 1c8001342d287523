import type {
  FolderMailProvider,
  FolderStep,
  IdMailProvider,
  MailAccess,
  MailboxStep,
  MessageBody,
} from '../../providers/contract/index.ts'
import type { LabelRow } from '../labels/index.ts'
import { messageStore } from '../messages/index.ts'
import { arrivalType, type EventBodies, isNewArrival } from './announce.ts'
import type { SyncDeps } from './deps.ts'
import type { CursorRow } from './store.ts'

/**
 * The bodies of mails that may be announced, by uid, where events are to hold them; read before the transaction. One that
 * cannot be read is left out: the event goes without it rather than late.
 */
export async function eventBodies(
  deps: SyncDeps,
  mail: FolderMailProvider,
  accountId: string,
  label: LabelRow,
  step: FolderStep,
): Promise<ReadonlyMap<number, EventBodies>> {
  if (!deps.settings.includeBodies || arrivalType(label.role) === undefined) return new Map()
  const places = step.added.flatMap(({ isNew, location }) => (isNew && location !== undefined ? [location] : []))
  if (places.length === 0) return new Map()
  const live = mail.liveReads(await deps.accounts.access(accountId))
  return readBodies(
    deps,
    accountId,
    places,
    ({ uid }) => uid,
    ({ uidValidity, uid }) => live.getBody({ folderPath: label.providerId, uidValidity, uid }),
  )
}

/** The same by the provider's ids, for mails that have them. */
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
  const news = step.found
    .map(({ message }) => message)
    .filter((one) => isNewArrival(one, one, step.refetched, position, syncedAt))
  const ids = news.map((one) => one.providerMessageId)
  const rows = await messageStore(deps.db.read).byProviderIds(accountId, ids)
  const known = new Set(rows.map((row) => row.providerMessageId))
  const unknown = ids.filter((id) => !known.has(id))
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

async function readBodies<Mail, Key>(
  deps: SyncDeps,
  accountId: string,
  mails: readonly Mail[],
  keyOf: (mail: Mail) => Key,
  read: (mail: Mail) => Promise<MessageBody>,
): Promise<ReadonlyMap<Key, EventBodies>> {
  const bodies = new Map<Key, EventBodies>()
  for (const mail of mails) {
    try {
      const { text, html } = await read(mail)
      bodies.set(keyOf(mail), { text, html })
    } catch (error) {
      deps.log.warn('A body could not be read for its event', { accountId, operation: 'sync.body', error })
    }
  }
  return bodies
}
