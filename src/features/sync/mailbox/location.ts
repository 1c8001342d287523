import type { FolderRole } from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'

/** Where a mail stands that carries these labels. */
export interface Standing {
  /** The label that counts as its folder; undefined where it has only labels. */
  folder: LabelRow | undefined
  /** Is it part of the lists of all mail? */
  isListed: boolean
}

/** What says where a mail with several labels stands, the strongest first: what was thrown away is in the trash, whatever else it is. */
const FOLDERS: readonly FolderRole[] = ['trash', 'junk', 'drafts', 'inbox', 'sent']

/** `isWhole`: mails carry many labels (gmail); else the one they carry is their folder (microsoft). */
export function standingOf(labels: readonly LabelRow[], isWhole: boolean): Standing {
  const byRole = FOLDERS.flatMap((role) => labels.find((label) => label.role === role) ?? [])
  return {
    folder: isWhole ? byRole[0] : labels[0],
    isListed: !labels.some((label) => label.role === 'trash' || label.role === 'junk'),
  }
}
