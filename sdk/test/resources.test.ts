import { Posthorn } from '@posthorn/sdk'
import { describe, expect, it } from 'vitest'
import { document } from '../../test/kit/api/api-document.ts'
import { RESOURCES } from '../generator/names.mjs'

const IDS = ['id/0', 'id/1', 'id/2']

/** Each operation, with its method in the client. */
const methods = Object.entries(RESOURCES).flatMap(([resource, { methods }]) =>
  Object.entries(methods).map(([method, operationId]) => [operationId, resource, method] as const),
)
/** Each operation, with the request that belongs to it: method and address, with the ids in the order of the path. */
const requests = new Map(
  Object.entries(document.paths).flatMap(([address, item]) =>
    Object.entries(item).map(([method, operation]) => {
      let count = 0
      const filled = address.replaceAll(/\{\w+\}/g, () => encodeURIComponent(IDS[count++] ?? ''))
      return [
        Reflect.get(operation, 'operationId'),
        { ids: IDS.slice(0, count), sent: `${method.toUpperCase()} ${filled}` },
      ]
    }),
  ),
)

async function sentBy(resource: string, method: string, ids: readonly string[]): Promise<string | undefined> {
  const sent: string[] = []
  const posthorn = new Posthorn({
    baseUrl: 'http://service.invalid',
    maxRetries: 0,
    fetch: async (input, init) => {
      sent.push(`${init?.method} ${new URL(String(input)).pathname}`)
      return Response.json({}, { status: 418 })
    },
  })
  const calls = Reflect.get(posthorn, resource)
  const result = calls[method](...ids)
  await expect('next' in result ? result.next() : result).rejects.toMatchObject({ status: 418 })
  return sent[0]
}

describe('the client', () => {
  it.each(methods)('calls %s by %s.%s', async (operationId, resource, method) => {
    const { ids, sent } = requests.get(operationId) ?? { ids: [], sent: 'nothing' }
    expect(await sentBy(resource, method, ids)).toBe(sent)
  })

  it('has one method for each operation', () => {
    expect(methods.map(([operationId]) => operationId).sort()).toEqual([...requests.keys()].sort())
  })

  it.each(['', '.', '..'])('refuses the id "%s", which would lead to another path', (id) => {
    const posthorn = new Posthorn({ baseUrl: 'http://service.invalid' })
    expect(() => posthorn.accounts.get(id)).toThrow('is not an id')
  })
})
