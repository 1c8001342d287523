import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Example, type ExampleResponse, readExamples, working } from '../../src/infra/http/openapi/examples.ts'
import { type ReducedRequest, reducedRequests, refusesMissing } from '../kit/body-members.ts'
import { shapeDifferences, textDifferences } from '../kit/example-shape.ts'
import { pointerPart, schemaChecker } from '../kit/openapi.ts'
import { recorded, writeRecorded } from '../kit/record-examples.ts'
import { type ApiStory, FIRST, LAST, startApiStory } from '../scenarios/api-story.ts'
import { dovecotAvailable } from '../servers/dovecot.ts'

/** With RECORD_EXAMPLES=1, responses that have no body yet, or another shape, are written into the `examples.json` files. */
const RECORDS = process.env.RECORD_EXAMPLES === '1'

interface Media {
  schema?: object & { $ref?: string; properties?: Record<string, { default?: unknown }> }
}
interface Response {
  $ref?: string
  content?: Record<string, Media>
}
interface Operation {
  parameters: { name?: string; in?: string; example?: unknown }[]
  requestBody?: {
    required: boolean
    content: Record<string, Media & { example?: unknown; examples?: Record<string, { value: unknown }> }>
  }
  responses: Record<string, Response>
}

const document: {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, NonNullable<Media['schema']>> }
} = JSON.parse(await readFile('openapi.json', 'utf8'))
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

interface Step {
  title: string
  name: string
  index: number
  example: Example
  /** Sends the request as it is, or without members that it must or may have. */
  sends: 'example' | 'incomplete' | 'reduced'
}

/**
 * Errors come before the deletions and the hosted flow, which complete what the requests name. Requests without members that they
 * may lack work, too, and create more objects, so they come last.
 */
function inOrder(): Step[] {
  const middle = Object.keys(examples).filter((name) => !FIRST.includes(name) && !LAST.includes(name))
  const withBody = [...FIRST, ...middle].flatMap((name) => stepsOf(name, 'reduced'))
  return [
    ...[...FIRST, ...middle].flatMap((name) => [...stepsOf(name, 'incomplete'), ...stepsOf(name, 'example')]),
    ...[...FIRST, ...middle, ...LAST].flatMap((name) => errorStepsOf(name)),
    ...withBody,
    ...LAST.flatMap((name) => [
      ...stepsOf(name, 'incomplete'),
      ...stepsOf(name, 'example'),
      ...(name.startsWith('DELETE ') ? [] : stepsOf(name, 'reduced')),
    ]),
  ]
}

function stepsOf(name: string, sends: Step['sends']): Step[] {
  return (examples[name] ?? []).flatMap((example, index): Step[] => {
    const { status } = example.response
    if (status >= 400) return []
    if (sends === 'example')
      return [{ title: `${name} returns ${status} as in its example`, name, index, example, sends }]
    const some = reducedOf(name, example).filter(({ isAllowed }) => isAllowed === (sends === 'reduced'))
    const effect =
      sends === 'reduced' ? 'can be sent without each optional member' : 'is refused without each required member'
    return some.length === 0 ? [] : [{ title: `${name} ${effect}`, name, index, example, sends }]
  })
}

function errorStepsOf(name: string): Step[] {
  return (examples[name] ?? []).flatMap((example, index): Step[] => {
    const { status } = example.response
    const title = `${name} returns ${status} as in its example`
    return status < 400 ? [] : [{ title, name, index, example, sends: 'example' }]
  })
}

/** Without the routes that take plain text: they need a body or a parameter. */
function reducedOf(name: string, example: Example): ReducedRequest[] {
  const { operation, pointer } = described(name)
  const { requestBody } = operation
  if (requestBody === undefined || 'text/plain' in requestBody.content) return []
  const schema = `${pointer}/requestBody/content/application~1json/schema`
  return reducedRequests(example, requestBody.required, (body) => schemaErrors(body, schema).length === 0)
}

/** The `default` that the document gives for a member of the body, as `body.retryCount`. */
function defaultOf(name: string, path: string): unknown {
  const schema = described(name).operation.requestBody?.content['application/json']?.schema
  const target = document.components.schemas[schema?.$ref?.split('/').at(-1) ?? ''] ?? schema
  return target?.properties?.[path.slice('body.'.length)]?.default
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

  it.each(inOrder().map((step): [string, Step] => [step.title, step]))('%s', async (_title, step) => {
    if (step.sends === 'incomplete') await checkRefusals(step)
    else if (step.sends === 'reduced') await checkDefaults(step)
    else await checkExample(step)
  })

  async function checkExample({ name, index, example }: Step): Promise<void> {
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
  }

  /** Each member that the schema requires is required by the service, which names it. */
  async function checkRefusals({ name, example }: Step): Promise<void> {
    for (const { path, request } of reducedOf(name, example).filter(({ isAllowed }) => !isAllowed)) {
      const response = await story.send(name, { request, response: { status: 400 } })
      expect([path, refusesMissing(response, path) ? 'refused' : response.text]).toEqual([path, 'refused'])
    }
  }

  /** No other member is, and a new object has the documented default in its place. */
  async function checkDefaults({ name, example }: Step): Promise<void> {
    for (const { path, request } of reducedOf(name, example).filter(({ isAllowed }) => isAllowed)) {
      const response = await story.send(name, { request, response: { status: 400 } })
      expect([path, refusesMissing(response, path) ? response.text : 'accepted']).toEqual([path, 'accepted'])
      const fallback = defaultOf(name, path)
      const shown = response.status < 300 ? response.json?.[path.slice('body.'.length)] : undefined
      if (fallback !== undefined && shown !== undefined) expect([path, shown]).toEqual([path, fallback])
    }
  }
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
