import type { Static } from 'typebox'
import * as Type from 'typebox'
import { nullable, timestamp } from '../../platform/formats/json-schema.ts'
import { isoTime } from '../../platform/time/time.ts'
import type { LabelRow } from './store.ts'

/** The JSON of a label in responses. */
export const labelSchema = Type.Object(
  {
    id: Type.String({
      examples: ['lbl_01k9zv3h5q8m2n4p6r7s8t9vwx'],
      description: 'Does not change when the folder is renamed.',
    }),
    accountId: Type.String(),
    name: Type.String({
      description: 'The full name: the path for imap, otherwise the names of its parents and its own, joined by "/".',
    }),
    displayName: Type.String({ description: 'The last segment of the name, unless the API set another one.' }),
    color: nullable(Type.String()),
    providerId: Type.String({ description: "The provider's id; requests accept it in place of `id`." }),
    type: Type.Enum(['system', 'user']),
    role: nullable(Type.String({ description: 'inbox, sent, drafts, trash, junk, archive, all or flagged.' })),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'Label' },
)
type LabelView = Static<typeof labelSchema>

export function labelView(row: LabelRow): LabelView {
  const { id, accountId, name, displayName, color, providerId, type, role, createdAt, updatedAt } = row
  return {
    id,
    accountId,
    name,
    displayName,
    color,
    providerId,
    type,
    role,
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  }
}
