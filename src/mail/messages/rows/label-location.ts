import type { FolderRole } from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'

/** The location that the labels of a message determine. */
export interface Location {
  /** The label that counts as the message's folder. Undefined when none does. */
  folder: LabelRow | undefined
  /** Whether lists of all messages include it. */
  isListed: boolean
}

/** The roles that count as a folder, the strongest first: a message with the trash label is in the trash, whatever its other labels. */
const FOLDERS: readonly FolderRole[] = ['trash', 'junk', 'drafts', 'inbox', 'sent']

/** `isOneScope`: messages have many labels (gmail). Otherwise their only label is their folder (microsoft). */
export function chooseLocation(labels: readonly LabelRow[], isOneScope: boolean): Location {
  const byRole = FOLDERS.flatMap((role) => labels.find((label) => label.role === role) ?? [])
  return {
    folder: isOneScope ? byRole[0] : labels[0],
    isListed: !labels.some((label) => label.role === 'trash' || label.role === 'junk'),
  }
}
