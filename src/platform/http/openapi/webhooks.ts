import { pascalCase } from '../../formats/text.ts'
import type { Components, Json } from './components.ts'

/** The requests that the service sends to applications, for the `webhooks` of the document. */
export interface OpenApiWebhooks {
  /** The headers of every request. */
  headers: readonly { name: string; description: string; required: boolean; example: string }[]
  /** The meaning of the application's response, by status. */
  responses: Readonly<Record<string, string>>
  /** The schema that all bodies match. */
  body: unknown
  events: readonly OpenApiWebhook[]
}

export interface OpenApiWebhook {
  name: string
  /** When it is sent, in one sentence. */
  summary: string
  body: unknown
  example: object
}

/** The tag of the section that describes the webhooks. */
export const WEBHOOKS_TAG = 'Webhook events'

export function webhookOperations({ headers, responses, body, events }: OpenApiWebhooks, components: Components): Json {
  components.reference(body)
  const parameters = headers.map(({ name }) => ({ $ref: `#/components/parameters/${name}` }))
  const described = Object.fromEntries(
    Object.entries(responses).map(([status, description]) => [status, { description }]),
  )
  return Object.fromEntries(
    events.map(({ name, summary, body, example }) => [
      name,
      {
        post: {
          operationId: `on${pascalCase(name)}`,
          tags: [WEBHOOKS_TAG],
          summary: name,
          description: summary,
          security: [],
          parameters,
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: components.reference(body),
                examples: { sample: { value: JSON.parse(JSON.stringify(example)) } },
              },
            },
          },
          responses: described,
        },
      },
    ]),
  )
}

/** The headers as shared parameters. */
export function headerParameters({ headers }: OpenApiWebhooks): { [name: string]: Json } {
  return Object.fromEntries(
    headers.map(({ name, description, required, example }) => [
      name,
      { name, in: 'header', required, description, schema: { type: 'string' }, example },
    ]),
  )
}
