import type { TObject, TProperties, TSchema } from 'typebox'
import * as Type from 'typebox'
import { INPUT_CODES } from '../errors/app-error.ts'
import { CONNECTION_PROBLEMS, type ConnectionProblem } from '../errors/connection-problems.ts'
import { documentedDefault } from '../formats/json-schema.ts'
import { DEFAULT_LIMIT } from '../formats/pagination.ts'

/** The limit of a list whose request names none. Documented only: `maxResults` applies when `limit` is absent. */
export function limitQuery(defaultLimit: number) {
  return Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Items per page. A larger one than 200 means 200.',
      ...documentedDefault(defaultLimit),
    }),
  )
}

/** The query parameters of every list: `Type.Object({ ...pageQuery, labelId: … })`. */
export const pageQuery = {
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Page number, from 1. Ignored with a cursor.',
      ...documentedDefault(1),
    }),
  ),
  limit: limitQuery(DEFAULT_LIMIT),
  maxResults: Type.Optional(Type.Integer({ minimum: 1, description: 'Another name for limit.', deprecated: true })),
  pageToken: Type.Optional(Type.String({ description: 'nextPageToken of the previous response.' })),
  cursor: Type.Optional(
    Type.String({ description: 'nextCursor of the previous response. Use it to read long lists.' }),
  ),
} satisfies TProperties

export const pagination = Type.Object(
  {
    page: Type.Integer(),
    limit: Type.Integer({ description: 'The effective limit.' }),
    total: Type.Integer(),
    totalPages: Type.Integer(),
    hasNext: Type.Boolean({ description: 'Exact, also when total is capped.' }),
    hasPrev: Type.Boolean(),
    totalCapped: Type.Optional(
      Type.Boolean({ description: 'True when counting stopped at total; there may be more.' }),
    ),
    partial: Type.Optional(
      Type.Boolean({
        description:
          'True when a search may lack messages: some are not indexed yet, or the provider could not be searched for older ones. Its nextCursor tries again.',
      }),
    ),
    source: Type.Optional(
      Type.Literal('provider', {
        description:
          'Present when a search at the provider found these messages, which are older than those that the service has stored. `total` does not count them, and a page may have fewer than `limit`, or none.',
      }),
    ),
    nextCursor: Type.Optional(Type.String()),
    nextPageToken: Type.Optional(Type.String()),
  },
  { title: 'Pagination' },
)

/** The response of a list: `listSchema('accounts', account)` is `{accounts: […], pagination}`. */
export function listSchema<Name extends string, Item extends TSchema>(name: Name, item: Item) {
  const items = { [name]: Type.Array(item) } as Record<Name, ReturnType<typeof Type.Array<Item>>>
  return Type.Object({ ...items, pagination })
}

/** The response of a delete or an action without a result. */
export const done = Type.Object({ success: Type.Boolean(), message: Type.String() }, { title: 'Done' })

export const errorSchema: TObject = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.Object({
      code: Type.String({ examples: ['validation_failed'] }),
      type: Type.String({ description: 'The party that failed: api (the caller), provider, callback or server.' }),
      message: Type.String(),
      docUrl: Type.String({
        description: 'The description of this code.',
        examples: ['http://localhost:8080/docs/errors#validation_failed'],
      }),
      details: Type.Array(
        Type.Object({
          path: Type.String({ examples: ['body.to.0'] }),
          message: Type.String(),
          code: Type.Optional(
            Type.Enum([...INPUT_CODES, ...(Object.keys(CONNECTION_PROBLEMS) as ConnectionProblem[])], {
              description:
                'What is wrong with a value that a guest enters, or with a mail or calendar server, so that a page can explain it.',
            }),
          ),
        }),
      ),
      redirectUrl: Type.Optional(Type.String({ description: 'With redirected: where a guest continues.' })),
      current: Type.Optional(Type.Object({}, { description: 'With a stale If-Match: the object as it is now.' })),
    }),
    requestId: Type.String(),
  },
  { title: 'Error' },
)
