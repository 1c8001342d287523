import type { Static } from 'typebox'
import * as Type from 'typebox'
import { nullable, timestamp } from '../../platform/formats/json-schema.ts'
import { listSchema } from '../../platform/http/index.ts'
import { SCOPES } from './api-key.ts'

const scopes = Type.Array(Type.Enum([...SCOPES], { type: 'string' }), { minItems: 1, maxItems: 10 })

const key = {
  id: Type.String({ examples: ['key_01jd8e4v5t6y7n8m9p0q1r2s3t'] }),
  name: Type.String(),
  scopes: {
    ...scopes,
    description: '`write` includes `read`, and `admin` both.',
  },
  hint: Type.String({ description: 'The last four characters of the key.' }),
  createdBy: Type.String({
    description: '`service` (SERVICE_API_KEY), `key:<id>`, or `admin:<user>` in the portal.',
  }),
  createdAt: timestamp(),
  expiresAt: nullable(timestamp()),
  lastUsedAt: nullable(timestamp('At most a minute old while the key is in use.')),
}

export const keySchema = Type.Object(key, { title: 'ApiKey' })
export type KeyView = Static<typeof keySchema>

export const createdKeySchema = Type.Object(
  { ...key, key: Type.String({ description: 'The key. It is not stored, so this is the only response with it.' }) },
  { title: 'CreatedApiKey' },
)

export const keyList = listSchema('apiKeys', keySchema)

export const keyParams = Type.Object({
  apiKeyId: Type.String({ description: 'The id of the key, not the key itself.' }),
})

export const createBody = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '\\S',
      description: 'Says which program uses the key.',
    }),
    scopes: {
      ...scopes,
      description:
        '`read` for requests that read, `write` for changes, `admin` for API keys, the audit log and settings. `write` includes `read`, and `admin` both.',
    },
    expiresAt: Type.Optional(nullable(timestamp('Default: never.'))),
  },
  { title: 'CreateApiKey' },
)
export type CreateBody = Static<typeof createBody>
