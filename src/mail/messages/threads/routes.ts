import * as Type from 'typebox'
import { type App, listSchema, pageQuery } from '../../../platform/http/index.ts'
import { threadDetailSchema, threadSchema } from './api.ts'
import type { ThreadReader } from './reader.ts'

const READ = { access: 'key:read' } as const
const accountParams = Type.Object({ accountId: Type.String({ description: 'An account id, or its customUserId.' }) })

export function threadRoutes(app: App, { threads }: { threads: ThreadReader }): void {
  app.get(
    '/accounts/:accountId/threads',
    {
      config: READ,
      schema: {
        tags: ['Messages'],
        operationId: 'listThreads',
        summary: 'List threads, newest first',
        description:
          "Threads are sorted by their newest message with the label. Without labelId: the account's main folder for imap; every message outside trash and junk for gmail and microsoft.",
        params: accountParams,
        querystring: Type.Object({
          ...pageQuery,
          labelId: Type.Optional(
            Type.String({
              description: "Only threads with a message that has this label: its id, or the provider's.",
            }),
          ),
        }),
        response: { 200: listSchema('threads', threadSchema) },
      },
    },
    (request) =>
      threads.list(request.params.accountId, { ...request.query, labelId: request.query.labelId || undefined }),
  )

  app.get(
    '/accounts/:accountId/threads/:threadId',
    {
      config: READ,
      schema: {
        tags: ['Messages'],
        operationId: 'getThread',
        summary: 'Get a thread with its messages, newest first',
        description: 'Holds the stored messages of every folder. The page parameters select among its messages.',
        params: Type.Object({
          ...accountParams.properties,
          threadId: Type.String({ description: 'The id of the thread.' }),
        }),
        querystring: Type.Object(pageQuery),
        response: { 200: threadDetailSchema },
      },
    },
    (request) => threads.detail(request.params.accountId, request.params.threadId, request.query),
  )
}
