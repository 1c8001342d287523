import type { Components, Json } from './components.ts'

/** What the service sends to applications by itself, for the `webhooks` of the document. */
export interface Notices {
  /** Headers of every one of them. */
  headers: readonly { name: string; description: string; required: boolean; example: string }[]
  /** What the application's answer means, by status. */
  responses: Readonly<Record<string, string>>
  kinds: readonly Notice[]
}

export interface Notice {
  name: string
  /** One sentence: when it is sent. */
  summary: string
  body: unknown
  example: object
}

export function noticesPart({ headers, responses, kinds }: Notices, components: Components): Json {
  const parameters = headers.map(({ name }) => ({ $ref: `#/components/parameters/${name}` }))
  const answers = Object.fromEntries(
    Object.entries(responses).map(([status, description]) => [status, { description }]),
  )
  return Object.fromEntries(
    kinds.map(({ name, summary, body, example }) => [
      name,
      {
        post: {
          operationId: `on${pascal(name)}`,
          summary,
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
          responses: answers,
        },
      },
    ]),
  )
}

/** The headers, each in one place. */
export function headerParameters({ headers }: Notices): { [name: string]: Json } {
  return Object.fromEntries(
    headers.map(({ name, description, required, example }) => [
      name,
      { name, in: 'header', required, description, schema: { type: 'string' }, example },
    ]),
  )
}

/** `message.link_clicked` is `MessageLinkClicked`. */
function pascal(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}
