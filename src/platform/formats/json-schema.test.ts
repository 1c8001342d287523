import fastJson from 'fast-json-stringify'
import * as Type from 'typebox'
import { describe, expect, it } from 'vitest'
import { compileWriter, markNullables, nullable } from './json-schema.ts'

const person = Type.Object({ name: Type.String(), email: nullable(Type.String()) })
const schema = Type.Object({
  text: nullable(Type.String({ format: 'date-time' })),
  count: nullable(Type.Integer()),
  flag: nullable(Type.Boolean()),
  kind: nullable(Type.Enum(['red', 'blue'])),
  person: nullable(person),
  people: nullable(Type.Array(person)),
  lists: Type.Array(nullable(Type.Array(nullable(Type.Number())))),
  byName: Type.Record(Type.String(), nullable(person)),
  either: nullable(Type.Union([Type.Literal('yes'), Type.Literal('no')])),
  shape: Type.Union([Type.Object({ round: Type.Literal(true) }), Type.Object({ edges: Type.Integer() })]),
  anything: nullable(Type.Any()),
})

const ANN = { name: 'Ann "A" é', email: null, secret: 'left out' }
const FULL = {
  text: '2026-01-31T08:00:00.000Z',
  count: 3,
  flag: false,
  kind: 'blue',
  person: ANN,
  people: [ANN, { name: 'Bob', email: 'bob@example.com' }],
  lists: [[1, null, 2.5], null, []],
  byName: { ann: ANN, nobody: null },
  either: 'no',
  shape: { edges: 4 },
  anything: { deep: [1] },
}
const EMPTY = {
  text: null,
  count: null,
  flag: null,
  kind: null,
  person: null,
  people: null,
  lists: [],
  byName: {},
  either: null,
  shape: { round: true },
  anything: null,
}

describe('the writer of a schema', () => {
  it('writes null and values as fast-json-stringify does with a choice between them', () => {
    const [ours, plain] = [compileWriter(schema), fastJson(schema)]
    for (const value of [FULL, EMPTY]) expect(ours(value)).toBe(plain(value))
    expect(JSON.parse(ours(FULL))).toMatchObject({ person: { name: ANN.name, email: null }, either: 'no' })
  })

  it('leaves only real choices to a validator', () => {
    expect(JSON.stringify(markNullables(schema)).match(/"anyOf":/g)).toHaveLength(4)
    expect(markNullables(nullable(Type.String({ description: 'A name.' })))).toEqual({
      type: 'string',
      description: 'A name.',
      nullable: true,
    })
  })

  it('leaves the schema as it is', () => {
    const before = JSON.stringify(schema)
    compileWriter(schema)
    expect(JSON.stringify(schema)).toBe(before)
  })
})
