import type { FolderMail, FolderStep } from '../../providers/provider.ts'
import type { LabelRow } from '../labels/index.ts'
import { arrivalType, type EventBodies } from './announce.ts'
import type { SyncDeps } from './deps.ts'

const NONE: ReadonlyMap<number, EventBodies> = new Map()

/**
 * The bodies of mails that may be announced, by uid, where events are to hold them; read before the transaction. One that
 * cannot be read is left out: the event goes without it rather than late.
 */
export async function eventBodies(
  deps: SyncDeps,
  mail: FolderMail,
  accountId: string,
  label: LabelRow,
  step: FolderStep,
): Promise<ReadonlyMap<number, EventBodies>> {
  if (!deps.settings.includeBodies || arrivalType(label.role) === undefined) return NONE
  const places = step.added.flatMap(({ isNew, place }) => (isNew && place !== undefined ? [place] : []))
  if (places.length === 0) return NONE
  const operations = mail.operations(await deps.accounts.access(accountId))
  const bodies = new Map<number, EventBodies>()
  for (const { uidValidity, uid } of places) {
    try {
      const { text, html } = await operations.getBody({ folderPath: label.providerId, uidValidity, uid })
      bodies.set(uid, { text, html })
    } catch (error) {
      deps.log.warn('A body could not be read for its event', { accountId, operation: 'sync.body', error })
    }
  }
  return bodies
}
