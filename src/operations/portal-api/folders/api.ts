import type { Static } from 'typebox'
import * as Type from 'typebox'
import { nullable } from '../../../platform/formats/json-schema.ts'

const folderSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  role: nullable(Type.String()),
  isMain: Type.Boolean(),
  isSynced: Type.Boolean(),
  messages: Type.Integer({ description: 'Stored messages.' }),
})

export const foldersSchema = Type.Object({
  folders: Type.Array(folderSchema),
  cost: nullable(
    Type.Object(
      {
        connections: Type.Integer({ description: 'Permanent connections to the mail server.' }),
        statusesPerMinute: Type.Integer({
          description: 'STATUS commands, one for each synced folder but the main one.',
        }),
      },
      { description: 'imap: what syncing the folders costs.' },
    ),
  ),
})
export type AccountFolders = Static<typeof foldersSchema>
