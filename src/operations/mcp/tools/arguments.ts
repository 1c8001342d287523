import * as Type from 'typebox'

/** Arguments that several tools share. */
export const ACCOUNT = Type.String({
  minLength: 1,
  maxLength: 320,
  description: 'The id of an account, from list_accounts.',
})
export const MESSAGE = Type.String({ minLength: 1, maxLength: 2048, description: 'The id of a message.' })

export const CURSOR = Type.Optional(
  Type.String({
    maxLength: 4096,
    description: 'nextCursor of the previous result of this tool, with the same other arguments.',
  }),
)

/** How many items one call returns. A result must fit into the context of a model. */
const MAX_ITEMS = 50
export const LIMIT = Type.Optional(
  Type.Integer({ minimum: 1, maximum: MAX_ITEMS, default: 20, description: 'How many items to return.' }),
)

export const TIME = (description: string) =>
  Type.String({ maxLength: 64, description: `${description} RFC 3339 with an offset, such as 2026-11-25T09:00:00Z.` })

export const TIME_ZONE = Type.Optional(
  Type.String({ maxLength: 64, description: 'IANA name of a time zone, such as Europe/Berlin.' }),
)

export const RECIPIENTS = Type.Array(Type.String({ maxLength: 1000 }), {
  maxItems: 100,
  description: 'Addresses, with or without a name: ada@example.com, Ada Okafor <ada@example.com>.',
})

export const CONFIRMATION_TOKEN = Type.Optional(
  Type.String({
    maxLength: 200,
    description: 'From the first call with the same arguments. Pass it only after the user has agreed.',
  }),
)
