import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Example, ExampleResponse } from '../../src/platform/http/openapi/examples.ts'
import { described, examples, operations, schemaErrors } from '../kit/api/api-document.ts'
import { refusesMissing } from '../kit/api/body-members.ts'
import { shapeDifferences, textDifferences } from '../kit/api/example-shape.ts'
import { pointerPart } from '../kit/api/openapi.ts'
import { recorded, writeRecorded } from '../kit/api/record-examples.ts'
import { dovecotAvailable } from '../servers/dovecot.ts'
import { submitForms } from './api-forms.ts'
import { findDefault, inOrder, reduceRequests, type Step } from './api-steps.ts'
import { type ApiStory, startApiStory } from './api-story.ts'

/** With RECORD_EXAMPLES=1, responses that have no body yet, or another shape, are written into the `examples.json` files. */
const RECORDS = process.env.RECORD_EXAMPLES === '1'

/** The requests of all examples, sent to the built service. `node`: the program that runs it, by default the one of the tests. */
export function describeBuiltService(node?: () => string): void {
  describe.skipIf(!dovecotAvailable())('the built service', () => {
    const reached = new Set<string>()
    const fresh = new Map<string, Map<number, ExampleResponse>>()
    let story: ApiStory
    beforeAll(async () => {
      story = await startApiStory(node?.())
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

    it('accepts its forms as browsers send them', async () => {
      for (const [name, response] of await submitForms(story, examples)) {
        expect([name, response.status, response.text]).toEqual([name, 200, expect.not.stringContaining('"error"')])
        reached.add(`${name} accepts application/x-www-form-urlencoded`)
      }
    })

    it('has received every documented type of body, and returned every documented success', () => {
      expect(documented().filter((example) => !reached.has(example))).toEqual([])
    })

    async function checkExample({ name, index, example }: Step): Promise<void> {
      const response = await story.send(name, example)
      const { status, headers } = response
      for (const reachedName of reachedBy(name, example, status)) reached.add(reachedName)
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
      for (const { path, request } of reduceRequests(name, example).filter(({ isAllowed }) => !isAllowed)) {
        const response = await story.send(name, { request, response: { status: 400 } })
        expect([path, refusesMissing(response, path) ? 'refused' : response.text]).toEqual([path, 'refused'])
      }
    }

    /** No other member is, and a new object has the documented default in its place. */
    async function checkDefaults({ name, example }: Step): Promise<void> {
      for (const { path, request } of reduceRequests(name, example).filter(({ isAllowed }) => isAllowed)) {
        const response = await story.send(name, { request, response: { status: 400 } })
        expect([path, refusesMissing(response, path) ? response.text : 'accepted']).toEqual([path, 'accepted'])
        const fallback = findDefault(name, path)
        const shown = response.status < 300 ? response.json?.[path.slice('body.'.length)] : undefined
        if (fallback !== undefined && shown !== undefined) expect([path, shown]).toEqual([path, fallback])
      }
    }
  })
}

/** Lists the document's promises, which the requests must reach: operations with their body types, and their successes. */
function documented(): string[] {
  return [...operations].flatMap(([name, { operation }]) => [
    ...Object.keys(operation.requestBody?.content ?? {}).map((type) => `${name} accepts ${type}`),
    ...Object.keys(operation.responses).flatMap((status) =>
      Number(status) < 400 ? [`${name} returns ${status}`] : [],
    ),
  ])
}

function reachedBy(name: string, { request = {} }: Example, status: number): string[] {
  const { body, files, headers } = request
  const type = headers?.['content-type'] ?? (files === undefined ? 'application/json' : 'multipart/form-data')
  if (status >= 400) return []
  const hasBody = body !== undefined || headers?.['content-type'] !== undefined
  return [`${name} returns ${status}`, ...(hasBody ? [`${name} accepts ${type}`] : [])]
}

function responseDifferences(
  { body, ...head }: ExampleResponse,
  { body: bodyNow, ...headNow }: ExampleResponse,
): string[] {
  const heads = [head, headNow].map(({ headers = {}, ...rest }) => ({ ...rest, headers }))
  const differences = shapeDifferences(heads[0], heads[1], 'response')
  if (typeof body !== 'string') return [...differences, ...shapeDifferences(body, bodyNow)]
  return [...differences, ...textDifferences(body, typeof bodyNow === 'string' ? bodyNow : JSON.stringify(bodyNow))]
}
