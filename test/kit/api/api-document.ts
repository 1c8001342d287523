import { readFile } from 'node:fs/promises'
import { readExamples } from '../../../src/platform/http/openapi/examples.ts'
import { pointerPart, schemaChecker } from './openapi.ts'

interface Media {
  schema?: object & { $ref?: string; properties?: Record<string, { default?: unknown }> }
}
interface Response {
  $ref?: string
  content?: Record<string, Media>
}
export interface Operation {
  parameters: { name?: string; in?: string; example?: unknown }[]
  requestBody?: {
    required: boolean
    content: Record<string, Media & { example?: unknown; examples?: Record<string, { value: unknown }> }>
  }
  responses: Record<string, Response>
  /** In each language one for each example that works, in their order. */
  'x-codeSamples': { lang: string; source: string }[]
}

export const document: {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, NonNullable<Media['schema']>> }
} = JSON.parse(await readFile('openapi.json', 'utf8'))
export const examples = await readExamples()
export const operations = new Map(
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [
      `${method.toUpperCase()} ${path}`,
      { operation, pointer: `/paths/${pointerPart(path)}/${method}` },
    ]),
  ),
)

export const schemaErrors = schemaChecker(document)

export function described(name: string): { operation: Operation; pointer: string } {
  const found = operations.get(name)
  if (found === undefined) throw new Error(`The document has no ${name}.`)
  return found
}
