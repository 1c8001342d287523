import type { Example } from '../../src/platform/http/openapi/examples.ts'
import { described, document, examples, schemaErrors } from '../kit/api/api-document.ts'
import { type ReducedRequest, reducedRequests } from '../kit/api/body-members.ts'
import { FIRST, LAST } from './api-story.ts'

export interface Step {
  title: string
  name: string
  index: number
  example: Example
  /** Sends the request as it is, or without members that it must or may have. */
  sends: 'example' | 'incomplete' | 'reduced'
}

/**
 * The requests of all examples, in the order in which one service can receive them. Errors come before the deletions and the hosted
 * flow, which complete what the requests name. Requests without members that they may lack work, too, and create more objects, so
 * they come last.
 */
export function inOrder(): Step[] {
  const middle = Object.keys(examples).filter((name) => !FIRST.includes(name) && !LAST.includes(name))
  const withBody = [...FIRST, ...middle].flatMap((name) => buildSteps(name, 'reduced'))
  return [
    ...[...FIRST, ...middle].flatMap((name) => [...buildSteps(name, 'incomplete'), ...buildSteps(name, 'example')]),
    ...[...FIRST, ...middle, ...LAST].flatMap((name) => buildErrorSteps(name)),
    ...withBody,
    ...LAST.flatMap((name) => [
      ...buildSteps(name, 'incomplete'),
      ...buildSteps(name, 'example'),
      ...(name.startsWith('DELETE ') ? [] : buildSteps(name, 'reduced')),
    ]),
  ]
}

function buildSteps(name: string, sends: Step['sends']): Step[] {
  return (examples[name] ?? []).flatMap((example, index): Step[] => {
    const { status } = example.response
    if (status >= 400) return []
    if (sends === 'example')
      return [{ title: `${name} returns ${status} as in its example`, name, index, example, sends }]
    const some = reduceRequests(name, example).filter(({ isAllowed }) => isAllowed === (sends === 'reduced'))
    const effect =
      sends === 'reduced' ? 'can be sent without each optional member' : 'is refused without each required member'
    return some.length === 0 ? [] : [{ title: `${name} ${effect}`, name, index, example, sends }]
  })
}

function buildErrorSteps(name: string): Step[] {
  return (examples[name] ?? []).flatMap((example, index): Step[] => {
    const { status } = example.response
    const title = `${name} returns ${status} as in its example`
    return status < 400 ? [] : [{ title, name, index, example, sends: 'example' }]
  })
}

/** Without the routes that take plain text: they need a body or a parameter. */
export function reduceRequests(name: string, example: Example): ReducedRequest[] {
  const { operation, pointer } = described(name)
  const { requestBody } = operation
  if (requestBody === undefined || 'text/plain' in requestBody.content) return []
  const schema = `${pointer}/requestBody/content/application~1json/schema`
  return reducedRequests(example, requestBody.required, (body) => schemaErrors(body, schema).length === 0)
}

/** The `default` that the document gives for a member of the body, as `body.retryCount`. */
export function findDefault(name: string, path: string): unknown {
  const schema = described(name).operation.requestBody?.content['application/json']?.schema
  const target = document.components.schemas[schema?.$ref?.split('/').at(-1) ?? ''] ?? schema
  return target?.properties?.[path.slice('body.'.length)]?.default
}
