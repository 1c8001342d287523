import * as Type from 'typebox'
import { Compile } from 'typebox/compile'
import { expect, it } from 'vitest'
import { schemaCheck, schemaFaults } from './schema-check.ts'

const member = Type.String({ minLength: 1, maxLength: 3, pattern: '^[a-z0-9😀]+$' })
const schemas = {
  text: member,
  whole: Type.Integer({ minimum: 0, maximum: 10 }),
  number: Type.Number(),
  choice: Type.Union([Type.Integer(), Type.String({ pattern: '^[0-9]{1,3}$' }), Type.Null()]),
  list: Type.Array(member, { minItems: 1, maxItems: 2 }),
  record: Type.Record(Type.String(), Type.Boolean()),
  object: Type.Object({ id: member, count: Type.Optional(Type.Integer()), any: Type.Unknown() }),
  closed: Type.Object({ id: member }, { additionalProperties: false }),
  literal: Type.Enum(['body', 'header']),
}
const texts = ['""', '"a"', '"abc"', '"abcd"', '"A"', '"12"', '"😀"', '"body"']
const values = [
  ...['null', 'true', '0', '1', '-1', '1.5', '11', '1e999', '[]', '["a"]', '["a","b"]', '["a","b","c"]', '[1]', '{}'],
  ...['{"a":true}', '{"a":1}', '{"id":"a"}', '{"id":"a","any":null}', '{"id":"a","any":1,"count":"1"}', '{"id":1}'],
  ...['{"id":"a","any":0,"count":2}', '{"__proto__":{"id":"a"}}', '{"id":"a","__proto__":1}', '{"constructor":true}'],
  ...texts,
]

it('agrees with the validator of the package that makes the schemas', () => {
  for (const [name, schema] of Object.entries(schemas)) {
    const check = schemaCheck(schema)
    const other = Compile(schema)
    for (const json of values) {
      const value: unknown = JSON.parse(json)
      expect([name, json, check(value)]).toEqual([name, json, other.Check(value)])
    }
  }
})

it('names each member that is missing, unknown or of another form', () => {
  const faults = schemaFaults(
    Type.Object({ id: member, server: Type.Object({ port: Type.Integer() }, { additionalProperties: false }) }),
  )
  expect(faults({ id: 'a', server: { port: 1 }, other: true })).toEqual([])
  expect(faults({ server: { port: 'x', secret: 'planted' } })).toEqual([
    { path: '/id', message: 'is missing' },
    { path: '/server/secret', message: 'is unknown' },
    { path: '/server/port', message: 'must be integer' },
  ])
})
