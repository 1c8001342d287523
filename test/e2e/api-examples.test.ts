import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Example, type ExampleResponse, readExamples, working } from '../../src/infra/http/openapi/examples.ts'
import { shapeDifferences, textDifferences } from '../kit/example-shape.ts'
import { pointerPart, schemaChecker } from '../kit/openapi.ts'
import { recorded, writeRecorded } from '../kit/record-examples.ts'
import { type ApiStory, FIRST, LAST, startApiStory } from '../scenarios/api-story.ts'
import { dovecotAvailable } from '../servers/dovecot.ts'

/** With RECORD_EXAMPLES=1, responses that have no body yet, or another shape, are written into the `examples.json` files. */
const RECORDS = process.env.RECORD_EXAMPLES === '1'

interface Media {
  schema?: object
}
interface Response {
  $ref?: string
  content?: Record<string, Media>
}
interface Operation {
  parameters: { name?: string; in?: string; example?: unknown }[]
  requestBody?: {
    content: Record<string, Media & { example?: unknown; examples?: Record<string, { value: unknown }> }>
  }
  responses: Record<string, Response>
}

const document: { paths: Record<string, Record<string, Operation>> } = JSON.parse(
  await readFile('openapi.json', 'utf8'),
)
const examples = await readExamples()
const operations = new Map(
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [
      `${method.toUpperCase()} ${path}`,
      { operation, pointer: `/paths/${pointerPart(path)}/${method}` },
    ]),
  ),
)

const schemaErrors = schemaChecker(document)

function described(name: string): { operation: Operation; pointer: string } {
  const found = operations.get(name)
  if (found === undefined) throw new Error(`The document has no ${name}.`)
  return found
}

describe('the examples of the API', () => {
  it.each([...operations.keys()])('%s has one that works, and one of each error that the request causes', (name) => {
    const { operation } = described(name)
    const own = examples[name] ?? []
    expect(working(own).length).toBeGreaterThan(0)
    expect(own[0]).toBe(working(own)[0])
    const statuses = own.map(({ response }) => String(response.status))
    for (const status of ['400', '404'].filter((error) => error in operation.responses)) {
      expect(statuses).toContain(status)
    }
    for (const status of statuses) expect(Object.keys(operation.responses)).toContain(status)
  })

  it('belong to operations', () => {
    for (const name of [...Object.keys(examples), ...FIRST, ...LAST]) expect([...operations.keys()]).toContain(name)
  })

  it('match their schemas: parameters, bodies, responses and webhooks', () => {
    const checked = [...shownExamples(document, '')]
    for (const [value, pointer] of checked) {
      expect([pointer, schemaErrors(value, `${pointer}/schema`)]).toEqual([pointer, []])
    }
    expect(checked.length).toBeGreaterThan(operations.size * 3)
  })

  it('are the requests that the document shows', () => {
    for (const [name, { operation }] of operations) {
      const [main] = working(examples[name] ?? [])
      const { path, query, headers, body } = main?.request ?? {}
      const shown = operation.parameters.flatMap((parameter) =>
        parameter.example === undefined ? [] : [[parameter.name, parameter.example]],
      )
      expect([name, Object.fromEntries(shown)]).toEqual([name, { ...path, ...query, ...headers }])
      const media = operation.requestBody?.content['application/json']
      const bodies = [media?.example, ...Object.values(media?.examples ?? {}).map(({ value }) => value)]
      if (body !== undefined) expect([name, bodies]).toEqual([name, expect.arrayContaining([body])])
    }
  })
})

/** Each `example`, and each of the `examples`, beside a schema, with the pointer of the object that has both. */
function* shownExamples(part: unknown, pointer: string): Generator<[unknown, string]> {
  if (part === null || typeof part !== 'object') return
  if ('schema' in part && 'example' in part) yield [part.example, pointer]
  if ('schema' in part && 'examples' in part) {
    for (const { value } of Object.values(Object(part.examples)) as { value: unknown }[]) yield [value, pointer]
  }
  for (const [name, value] of Object.entries(part)) {
    if (!['example', 'examples', 'schema'].includes(name))
      yield* shownExamples(value, `${pointer}/${pointerPart(name)}`)
  }
}

/** Errors come before the deletions and the hosted flow, which complete what the requests name. */
function inOrder(): [title: string, name: string, index: number, example: Example][] {
  const middle = Object.keys(examples).filter((name) => !FIRST.includes(name) && !LAST.includes(name))
  const of = (names: string[], works: boolean) =>
    names.flatMap((name) =>
      (examples[name] ?? []).flatMap((example, index): [string, string, number, Example][] => {
        const { status } = example.response
        return status < 400 === works ? [[`${name} returns ${status}`, name, index, example]] : []
      }),
    )
  return [...of(FIRST, true), ...of(middle, true), ...of([...FIRST, ...middle, ...LAST], false), ...of(LAST, true)]
}

describe.skipIf(!dovecotAvailable())('a running service', () => {
  const fresh = new Map<string, Map<number, ExampleResponse>>()
  let story: ApiStory
  beforeAll(async () => {
    story = await startApiStory()
  })
  afterAll(async () => {
    if (RECORDS) await writeRecorded(fresh)
    await story?.close()
  })

  it.each(inOrder())('%s as in its example', async (_title, name, index, example) => {
    const response = await story.send(name, example)
    const { status, headers } = response
    expect([status, status === example.response.status ? '' : response.text]).toEqual([example.response.status, ''])

    const now = recorded(response, story.toShown)
    const differences = responseDifferences(example.response, now)
    if (RECORDS && differences.length > 0) {
      fresh.set(name, (fresh.get(name) ?? new Map()).set(index, now))
      return
    }
    expect(differences).toEqual([])

    const { operation, pointer } = described(name)
    const { $ref, content } = operation.responses[String(status)] ?? {}
    const type = headers.get('content-type')?.split(';')[0] ?? ''
    if (content !== undefined) expect(Object.keys(content)).toContain('*/*' in content ? '*/*' : type)
    const at = $ref?.slice(1) ?? `${pointer}/responses/${status}`
    if (type === 'application/json' && content?.[type]?.schema !== undefined) {
      expect(schemaErrors(response.json, `${at}/content/${pointerPart(type)}/schema`)).toEqual([])
    }
  })
})

function responseDifferences(
  { body, ...head }: ExampleResponse,
  { body: bodyNow, ...headNow }: ExampleResponse,
): string[] {
  const heads = [head, headNow].map(({ headers = {}, ...rest }) => ({ ...rest, headers }))
  const differences = shapeDifferences(heads[0], heads[1], 'response')
  if (typeof body !== 'string') return [...differences, ...shapeDifferences(body, bodyNow)]
  return [...differences, ...textDifferences(body, typeof bodyNow === 'string' ? bodyNow : JSON.stringify(bodyNow))]
}
