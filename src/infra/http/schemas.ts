import { type TObject, type TProperties, type TSchema, Type } from 'typebox'

/** The query of every list: spread it into the route's own, `Type.Object({ ...pageQuery, labelId: … })`. */
export const pageQuery = {
  page: Type.Optional(Type.Integer({ minimum: 1, description: 'Page, counted from 1. A cursor wins over it.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: 'Items per page; above 200 it is 200.' })),
  maxResults: Type.Optional(Type.Integer({ minimum: 1, description: 'Another name for limit.', deprecated: true })),
  pageToken: Type.Optional(Type.String({ description: 'nextPageToken of the previous answer.' })),
  cursor: Type.Optional(Type.String({ description: 'nextCursor of the previous answer; the way to page deeply.' })),
} satisfies TProperties

export const pagination = Type.Object(
  {
    page: Type.Integer(),
    limit: Type.Integer({ description: 'The effective limit.' }),
    total: Type.Integer(),
    totalPages: Type.Integer(),
    hasNext: Type.Boolean({ description: 'Always exact.' }),
    hasPrev: Type.Boolean(),
    totalCapped: Type.Optional(Type.Boolean({ description: 'True when counting stopped; there are at least total.' })),
    nextCursor: Type.Optional(Type.String()),
    nextPageToken: Type.Optional(Type.String()),
  },
  { title: 'Pagination' },
)

/** The answer of a list: `listOf('accounts', account)` is `{accounts: […], pagination}`. */
export function listOf<Name extends string, Item extends TSchema>(name: Name, item: Item) {
  const items = { [name]: Type.Array(item) } as Record<Name, ReturnType<typeof Type.Array<Item>>>
  return Type.Object({ ...items, pagination })
}

/** The answer of a delete or a plain action. */
export const done = Type.Object({ success: Type.Boolean(), message: Type.String() }, { title: 'Done' })

export const errorSchema: TObject = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.Object({
      code: Type.String({ examples: ['validation_failed'] }),
      type: Type.String({ description: 'Who failed: api (the caller), provider, callback or server.' }),
      message: Type.String(),
      details: Type.Array(Type.Object({ path: Type.String({ examples: ['body.to.0'] }), message: Type.String() })),
    }),
    requestId: Type.String(),
  },
  { title: 'Error' },
)
