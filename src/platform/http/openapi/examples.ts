import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Json } from './components.ts'

/**
 * A request and its response. They live in the `examples.json` beside the routes. `test/e2e/api-examples.test.ts` sends each
 * request to a running service and records the responses.
 */
export interface Example {
  /** Distinguishes the example from the others of its operation. */
  summary?: string
  request?: ExampleRequest
  response: ExampleResponse
}

export interface ExampleRequest {
  path?: Record<string, string>
  query?: Record<string, string | number | boolean>
  headers?: Record<string, string>
  body?: Json
  /** Sends multipart/form-data: `body` as the part `message`, and these. */
  files?: readonly ExampleFile[]
}

export interface ExampleFile {
  part: string
  filename: string
  contentType: string
  content: string
}

export interface ExampleResponse {
  status: number
  /** Default: application/json with a body. */
  type?: string
  headers?: Record<string, string>
  /** JSON, or a text of another type, in which "…" replaces omitted text. */
  body?: Json
}

/** By operation, as `GET /accounts/{accountId}`. The first example works, and has every parameter that the document shows. */
export type Examples = Readonly<Record<string, readonly Example[]>>

const SOURCES = fileURLToPath(new URL('../../../', import.meta.url))

/** Reads every `examples.json` of the sources. */
export async function readExamples(): Promise<Examples> {
  const names = await readdir(SOURCES, { recursive: true })
  const files = names.filter((name) => name.endsWith('examples.json')).sort()
  const parts = await Promise.all(files.map((name) => readFile(join(SOURCES, name), 'utf8')))
  return Object.assign({}, ...parts.map((text): Examples => JSON.parse(text)))
}

/** The examples of an operation that succeed. */
export function working(examples: readonly Example[]): Example[] {
  return examples.filter(({ response }) => response.status < 400)
}

/** One value as `example`, several as `examples` by summary; nothing without a value. */
export function exampleMembers(values: readonly { summary: string | undefined; value: Json | undefined }[]): {
  [name: string]: Json
} {
  const shown = values.flatMap(({ summary, value }) => (value === undefined ? [] : [{ summary, value }]))
  const [first] = shown
  if (first === undefined) return {}
  if (shown.length === 1) return { example: first.value }
  const named = shown.map(({ summary = 'Example', value }) => [summary, { summary, value }])
  return { examples: Object.fromEntries(named) }
}
