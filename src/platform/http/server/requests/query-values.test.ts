import * as Type from 'typebox'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../errors/app-error.ts'
import { pageQuery } from '../../schemas.ts'
import { validatorCompiler } from './schema-compilers.ts'

const query = Type.Object({
  ...pageQuery,
  ratio: Type.Optional(Type.Number()),
  fresh: Type.Optional(Type.Boolean()),
  q: Type.Optional(Type.String()),
})

/** Returns the converted query, or `path message` per error. */
function validate(value: Record<string, unknown>, httpPart = 'querystring'): unknown {
  const check = validatorCompiler()({ schema: { ...query }, method: 'GET', url: '/', httpPart })
  const { error, value: converted } = Object(check(value))
  return error instanceof AppError ? error.details.map(({ path, message }) => `${path} ${message}`) : converted
}

describe('values of a query', () => {
  it('are the numbers and booleans that the schema declares', () => {
    expect(validate({ limit: '50', page: '007', ratio: '-0.5', fresh: 'false', q: '5' })).toEqual({
      limit: 50,
      page: 7,
      ratio: -0.5,
      fresh: false,
      q: '5',
    })
  })

  it.each(['1e2', '0x10', '0b11', '0o7', '+5', ' 5', '5 ', '5.0', '5.', '.5', '1_000', '1,000', '٥', 'NaN', '', '5n'])(
    'are no whole number when they are "%s"',
    (text) => {
      for (const name of ['page', 'limit', 'maxResults']) {
        expect(validate({ [name]: text })).toEqual([`query.${name} must be a whole number`])
      }
    },
  )

  it.each(['1e2', '0x10', '+5', ' 5', '5.', '.5', 'Infinity', ''])('are no number when they are "%s"', (text) => {
    expect(validate({ ratio: text })).toEqual(['query.ratio must be a number'])
  })

  it('are refused below the minimum, when repeated, and when they are infinite', () => {
    expect(validate({ limit: '0' })).toEqual(['query.limit must be at least 1'])
    expect(validate({ limit: '-1' })).toEqual(['query.limit must be at least 1'])
    expect(validate({ limit: ['1', '2'] })).toEqual(['query.limit must be a whole number'])
    expect(validate({ limit: '9'.repeat(400) })).toEqual(['query.limit must be a whole number'])
  })

  it.each(['1', '0', 'yes', 'TRUE', ''])('are neither true nor false when they are "%s"', (text) => {
    expect(validate({ fresh: text })).toEqual(['query.fresh must be true or false'])
  })

  it('are read the same way in a path', () => {
    expect(validate({ page: '3' }, 'params')).toEqual({ page: 3 })
    expect(validate({ page: '0x3' }, 'params')).toEqual(['path.page must be a whole number'])
  })
})
