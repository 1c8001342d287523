import { describe, expect, it } from 'vitest'
import { working } from '../../src/platform/http/openapi/examples.ts'
import { described, document, examples, operations, schemaErrors } from '../kit/api/api-document.ts'
import { pointerPart } from '../kit/api/openapi.ts'
import { FIRST, LAST } from '../scenarios/api-story.ts'
import { describeBuiltService } from '../scenarios/built-service.ts'

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

describeBuiltService()
