import { AppError, invalid } from '../../../platform/errors/app-error.ts'
import type { MessageChange } from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'

/** A requested change. `labelIds` replaces all labels; `add` and `remove` change single ones. */
export interface MessageSet {
  unread?: boolean | undefined
  starred?: boolean | undefined
  labelIds?: readonly LabelRow[] | undefined
  add?: readonly LabelRow[] | undefined
  remove?: readonly LabelRow[] | undefined
}

/** The change at the provider that turns a message with the labels `before` into what `set` says. Throws `not_supported`. */
export function buildChange(
  set: MessageSet,
  before: readonly LabelRow[],
  hasOneFolder: boolean,
): Omit<MessageChange, 'message'> {
  const { unread, starred } = set
  const flags = { ...(unread !== undefined && { unread }), ...(starred !== undefined && { starred }) }
  if (hasOneFolder) return { ...flags, ...folderChange(set, before) }
  const { add, remove } = labelChange(set, before)
  const labelPaths = (labels: readonly LabelRow[]) =>
    // The flag decides when a request names both.
    labels.filter(({ role }) => role !== 'flagged' || starred === undefined).map(({ providerId }) => providerId)
  return { ...flags, add: labelPaths(add), remove: labelPaths(remove) }
}

function labelChange({ labelIds, add = [], remove = [] }: MessageSet, before: readonly LabelRow[]) {
  const has = (labels: readonly LabelRow[], label: LabelRow) => labels.some(({ id }) => id === label.id)
  const wanted = labelIds ?? [...before.filter((label) => !has(remove, label)), ...add]
  // Adds and removes what the request names even if it is stored so: the provider may know better.
  const added = wanted.filter(
    (label) => (labelIds !== undefined || has(add, label)) && !(isFixed(label) && has(before, label)),
  )
  const removed = labelIds === undefined ? remove : before.filter((label) => !has(wanted, label))
  const fixed = [...added, ...removed].find(isFixed)
  if (fixed !== undefined) {
    throw new AppError('not_supported', { message: `Only Gmail itself adds and removes the label "${fixed.name}".` })
  }
  return { add: added, remove: removed }
}

/** Only Gmail adds and removes these. */
function isFixed({ role }: LabelRow): boolean {
  return role === 'sent' || role === 'drafts'
}

/**
 * The paths that a message of Gmail may have after its labels were replaced. It may have others that are not stored yet, which are
 * then removed. Undefined when the request replaces none.
 */
export function onlyPaths(
  { labelIds, starred }: MessageSet,
  labels: readonly LabelRow[],
): ReadonlySet<string> | undefined {
  if (labelIds === undefined) return undefined
  const kept = labels.filter((label) => isFixed(label) || (label.role === 'flagged' && starred === true))
  return new Set([...labelIds, ...kept].map(({ providerId }) => providerId))
}

function folderChange({ labelIds, add = [], remove = [] }: MessageSet, before: readonly LabelRow[]) {
  const targets = new Map((labelIds ?? add).map((label) => [label.id, label]))
  const [target, second] = targets.values()
  if (second !== undefined) {
    throw new AppError('not_supported', {
      message: 'A message of this account is in exactly one folder: name one label, the folder to move it to.',
    })
  }
  if (target !== undefined) return { add: [target.providerId] }
  const losesFolder = labelIds !== undefined || before.some(({ id }) => remove.some((label) => label.id === id))
  if (!losesFolder) return {}
  throw new AppError('not_supported', {
    message:
      'A message of this account is always in a folder. Name the label of another folder to move it there, or delete it.',
  })
}

/** Throws `validation_failed` for a label that cannot hold messages. */
export function requireUsable(path: string, id: string, label: LabelRow | undefined): LabelRow {
  if (label === undefined) throw invalid(path, `there is no label "${id.slice(0, 200)}" in this account`)
  if (label.selectable === 0) throw invalid(path, `the folder "${label.name.slice(0, 200)}" cannot hold messages`)
  return label
}
