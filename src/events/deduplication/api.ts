import * as Type from 'typebox'
import { documentedDefault } from '../../platform/formats/json-schema.ts'
import { KEY_FIELD_PATTERN } from './duplicates.ts'

const MAX_KEY_FIELDS = 20

const members = {
  enabled: Type.Boolean(),
  keyFields: Type.Array(Type.String({ maxLength: 200, pattern: KEY_FIELD_PATTERN }), {
    minItems: 1,
    maxItems: MAX_KEY_FIELDS,
    description:
      'Events that are equal in all of these fields are duplicates. Allowed: `accountId`, `eventType`, `provider`, `objectId`, `version`, and `data.<path>`, such as `data.from.email`. Any other name means a member of the data: `subject` is `data.subject`.',
    examples: [['accountId', 'eventType', 'objectId', 'version']],
  }),
  ttlSeconds: Type.Number({
    minimum: 60,
    maximum: 3600,
    description: 'Seconds for which an event suppresses its duplicates. Rounded.',
  }),
}

/** With the values until somebody changes them. */
export const configSchema = Type.Object(
  {
    enabled: { ...members.enabled, ...documentedDefault(true) },
    keyFields: {
      ...members.keyFields,
      ...documentedDefault(['accountId', 'eventType', 'objectId', 'version']),
    },
    ttlSeconds: { ...members.ttlSeconds, ...documentedDefault(300) },
  },
  { title: 'DeduplicationConfig' },
)

export const configBody = Type.Object(
  {
    enabled: Type.Optional(members.enabled),
    keyFields: Type.Optional(members.keyFields),
    ttlSeconds: Type.Optional(members.ttlSeconds),
  },
  { title: 'DeduplicationConfigUpdate' },
)

const name = Type.String({ minLength: 1, maxLength: 200 })

export const testBody = Type.Object(
  {
    accountId: name,
    eventType: { ...name, examples: ['message.received'] },
    provider: { ...name, examples: ['imap'] },
    objectId: Type.Optional(Type.String({ maxLength: 200 })),
    version: Type.Optional(Type.Integer({ minimum: 0 })),
    data: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { title: 'DeduplicationTest' },
)

export const testResult = Type.Object({
  success: Type.Boolean(),
  isDuplicate: Type.Boolean({ description: 'Always false while deduplication is disabled.' }),
  key: Type.String({ description: 'Hash of the key fields.' }),
  ttlSeconds: Type.Number(),
  config: configSchema,
})
