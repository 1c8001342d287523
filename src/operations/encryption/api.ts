import * as Type from 'typebox'

const keyIds = Type.Array(Type.String(), { description: 'The key that seals first.' })

export const keyStatus = Type.Object(
  {
    primaryKeyId: Type.String({ description: 'The key that seals new secrets on this instance.' }),
    keyIds,
    isGenerated: Type.Boolean({ description: 'False when ENCRYPTION_KEYS sets the keys.' }),
    instances: Type.Array(Type.Object({ id: Type.String(), keyIds }), {
      description: 'The running instances. `keyIds` is empty until an instance has reported its keys.',
    }),
  },
  { title: 'EncryptionKeys' },
)

export const addedKey = Type.Object({ success: Type.Boolean(), keyId: Type.String() })
export const promoteBody = Type.Object(
  { keyId: Type.Optional(Type.String({ maxLength: 32, description: 'Default: the key that was added last.' })) },
  { title: 'PromoteEncryptionKey' },
)

export const resealBody = Type.Object(
  { after: Type.Optional(Type.String({ maxLength: 500, description: '`next` of the call before.' })) },
  { title: 'Reseal' },
)

export const resealResult = Type.Object(
  {
    success: Type.Boolean(),
    keyId: Type.String({ description: 'The key that seals.' }),
    checked: Type.Integer({ description: 'Secrets that were checked.' }),
    resealed: Type.Integer({ description: 'Of them, those that had another key and were sealed again.' }),
    unreadable: Type.Array(Type.Object({ table: Type.String(), id: Type.String(), keyId: Type.String() }), {
      description: 'Secrets that no key of the ring opens, and the key that they need.',
    }),
    next: Type.Union([Type.String(), Type.Null()], { description: 'Pass it as `after`. Null at the end.' }),
  },
  { title: 'Resealed' },
)
