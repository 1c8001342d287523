import type { TSchema } from 'typebox'
import * as Type from 'typebox'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../errors/app-error.ts'
import { nullable } from '../../../formats/json-schema.ts'
import { validatorCompiler } from './schema-compilers.ts'

/** Validates the body: returns `path message` per error, or its value. */
function validate(schema: TSchema, body: unknown, httpPart = 'body'): unknown {
  const check = validatorCompiler()({ schema: { ...schema }, method: 'POST', url: '/', httpPart })
  const result: unknown = check(body)
  if (result === null || typeof result !== 'object' || !('error' in result)) return result
  return result.error instanceof AppError
    ? result.error.details.map(({ path, message }) => `${path} ${message}`)
    : result.error
}

describe('validation errors', () => {
  it('name every wrong value by its path, whatever characters the path contains', () => {
    const schema = Type.Object({
      to: Type.Array(Type.String({ format: 'email' }), { minItems: 1, uniqueItems: true }),
      'a/b~c': Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
      url: Type.String({ format: 'uri' }),
      at: Type.Optional(Type.String({ format: 'date-time' })),
      id: Type.Optional(Type.String({ pattern: '^[a-z]+$', maxLength: 5 })),
    })
    expect(validate(schema, { to: ['nobody', 'a@b.c'], 'a/b~c': 0, at: '2026-01-31', id: 'ABCDEF' })).toEqual([
      'body.url is required',
      'body.to.0 must be an email address',
      'body.a/b~c must be at least 1',
      'body.at must be an RFC 3339 time with an offset, such as 2026-01-31T08:00:00Z',
      'body.id must have at most 5 characters',
      'body.id must match ^[a-z]+$',
    ])
    expect(validate(schema, { to: [], url: 'https://a.example' })).toEqual(['body.to must not be empty'])
    expect(validate(schema, { to: ['a@b.c', 'a@b.c'], url: 'x' })).toEqual([
      'body.to must not contain duplicates',
      'body.url must be an absolute URL',
    ])
  })

  it('are one message for a union, or those of the branch that the caller meant', () => {
    const provider = Type.Union([Type.Literal('gmail'), Type.Literal('imap')])
    expect(validate(Type.Object({ provider }), { provider: 'aol' })).toEqual([
      'body.provider must be one of: gmail, imap',
    ])
    expect(validate(Type.Object({ provider: nullable(provider) }), { provider: 'aol' })).toEqual([
      'body.provider must be one of: gmail, imap',
    ])
    const secret = nullable(Type.String({ minLength: 1 }))
    expect(validate(Type.Object({ secret }), { secret: 5 })).toEqual(['body.secret must be a string or null'])
    expect(validate(Type.Object({ secret }), { secret: '' })).toEqual(['body.secret must not be empty'])
    const headers = nullable(Type.Object({ name: Type.String() }))
    expect(validate(Type.Object({ headers }), { headers: { name: 5 } })).toEqual(['body.headers.name must be a string'])
    expect(validate(Type.Object({ headers }), { headers: {} })).toEqual(['body.headers.name is required'])
    expect(validate(Type.Object({ headers }), { headers: [] })).toEqual(['body.headers must be an object or null'])
  })

  it('are few for a request with a hundred thousand wrong values', () => {
    const schema = Type.Object({ list: Type.Array(Type.String()) })
    expect(validate(schema, { list: Array(200).fill(0) })).toHaveLength(50)
    expect(validate(schema, { list: Array(100_000).fill(0) })).toEqual(['body.list.0 must be a string'])
  })
})

describe('misspelled names', () => {
  const schema = Type.Object({
    redirectUri: Type.String(),
    url_2: Type.Optional(Type.String()),
    sync: Type.Optional(nullable(Type.Object({ initialMessages: Type.Optional(Type.Integer()) }))),
    to: Type.Optional(Type.Array(Type.Object({ displayName: Type.Optional(Type.String()) }))),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    free: Type.Optional(Type.Object({}, { additionalProperties: true })),
  })

  it.each(['redirect_uri', 'redirect-uri', 'RedirectURI', 'redirecturi'])('suggest the known name for %s', (name) => {
    expect(validate(schema, { [name]: 'https://a.example' })).toEqual([`body.${name} is unknown; use "redirectUri"`])
    expect(validate(schema, { redirectUri: 'x', [name]: 'x' })).toEqual([`body.${name} is unknown; use "redirectUri"`])
  })

  it('are found in nested objects, lists and queries, beside other errors', () => {
    const body = { redirectUri: 5, sync: { initial_messages: 1 }, to: [{}, { display_name: 'A' }] }
    expect(validate(schema, body)).toEqual([
      'body.sync.initial_messages is unknown; use "initialMessages"',
      'body.to.1.display_name is unknown; use "displayName"',
      'body.redirectUri must be a string',
    ])
    const query = Type.Object({ pageToken: Type.Optional(Type.String()) })
    expect(validate(query, { page_token: 'x' }, 'querystring')).toEqual([
      'query.page_token is unknown; use "pageToken"',
    ])
  })

  it('are not suspected in other unknown names, in maps, and in the branches of a union', () => {
    const body = { redirectUri: 'x', redirect: 'y', url_2: 'z', headers: { a: '1', A: '2' }, free: { redirect_uri: 1 } }
    expect(validate(schema, body)).toEqual({ value: body })
    const either = Type.Union([Type.Object({ a_b: Type.String() }), Type.Object({ aB: Type.String() })])
    expect(validate(either, { aB: 'x' })).toEqual({ value: { aB: 'x' } })
  })
})

describe('values', () => {
  it('are coerced in queries and paths, but not in bodies', () => {
    const schema = Type.Object({ n: Type.Integer(), yes: Type.Boolean() })
    expect(validate(schema, { n: '5', yes: 'true' }, 'querystring')).toEqual({ value: { n: 5, yes: true } })
    expect(validate(schema, { n: '5', yes: 'true' })).toEqual([
      'body.n must be a whole number',
      'body.yes must be true or false',
    ])
  })

  it('are never infinite', () => {
    const schema = Type.Object({ n: Type.Number(), i: Type.Integer() })
    expect(validate(schema, JSON.parse('{"n": 1e999, "i": 1e999}'))).toEqual([
      'body.n must be a number',
      'body.i must be a whole number',
    ])
  })
})
