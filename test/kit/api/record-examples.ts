import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Example, ExampleResponse } from '../../../src/platform/http/openapi/examples.ts'
import type { ApiResponse } from '../http/http.ts'

/** The response as an example. `toShown` replaces values of the running service. */
export function recorded(response: ApiResponse, toShown: (text: string) => string): ExampleResponse {
  const { status, headers } = response
  const text = toShown(response.text)
  const [type = ''] = (headers.get('content-type') ?? '').split(';')
  const isJson = type === 'application/json'
  const shownHeaders = ['content-disposition', 'content-range', 'location'].flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : [[name, toShown(value)]]
  })
  return {
    status,
    ...(text !== '' && !isJson && { type }),
    ...(shownHeaders.length > 0 && { headers: Object.fromEntries(shownHeaders) }),
    ...(text !== '' && { body: isJson ? JSON.parse(text) : type === 'text/html' ? excerpt(text) : text }),
  }
}

/** The title and the heading of a page. */
function excerpt(page: string): string {
  const parts = [/<title>.*?<\/title>/, /<h1.*?<\/h1>/].map((pattern) => pattern.exec(page)?.[0] ?? '')
  return `<!doctype html>\n…\n${parts.join('\n…\n')}\n…`
}

/** Writes responses into the `examples.json` of the sources. `responses` has them by operation and number of the example. */
export async function writeRecorded(
  responses: ReadonlyMap<string, ReadonlyMap<number, ExampleResponse>>,
): Promise<void> {
  const names = (await readdir('src', { recursive: true })).filter((name) => name.endsWith('examples.json'))
  for (const name of names) {
    const file = join('src', name)
    const examples: Record<string, Example[]> = JSON.parse(await readFile(file, 'utf8'))
    for (const [operation, list] of Object.entries(examples)) {
      for (const [index, response] of responses.get(operation) ?? []) {
        const example = list[index]
        if (example !== undefined) example.response = response
      }
    }
    await writeFile(file, `${JSON.stringify(examples, null, 2)}\n`)
  }
}
