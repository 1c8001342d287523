import { Ajv, type ErrorObject, type Options } from 'ajv'
import formats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'
import { type AppError, invalidFields } from '../../../lib/errors.ts'
import { faults } from './faults.ts'

const PART_NAMES: Record<string, string> = { body: 'body', params: 'path', querystring: 'query', headers: 'headers' }

/** A refused request is examined for all its faults only when it is small: each fault costs a few hundred bytes. */
const EXAMINED_CHARS = 64 * 1024
const MAX_DETAILS = 50

/**
 * Compiles the schema of one part of a request. Query and path are text, so they are coerced; a body never is. Unknown
 * members pass. An absent body counts as `{}`, so that a body of optional members may be left out.
 */
export function validatorCompiler(): FastifySchemaCompiler<Record<string, unknown>> {
  const strict = validators({ coerceTypes: false })
  const coercing = validators({ coerceTypes: true })
  return ({ schema, httpPart = '' }) => {
    const ajv = httpPart === 'body' ? strict : coercing
    const firstFault = ajv.first.compile(schema)
    const everyFault = ajv.every.compile(schema)
    const part = PART_NAMES[httpPart] ?? httpPart
    return (data: unknown) => {
      const value = data ?? {}
      if (firstFault(value)) return { value }
      const thorough = JSON.stringify(value).length <= EXAMINED_CHARS
      const check = thorough ? everyFault : firstFault
      check(value)
      return { error: refused(part, check.errors ?? []) }
    }
  }
}

function refused(part: string, errors: readonly ErrorObject[]): AppError {
  const details = faults(errors)
    .slice(0, MAX_DETAILS)
    .map(({ path, message }) => ({ path: [part, ...path].join('.'), message }))
  return invalidFields(details)
}

function validators(options: Options): { first: Ajv; every: Ajv } {
  const make = (allErrors: boolean) => {
    const ajv = new Ajv({ useDefaults: true, strict: false, verbose: true, allErrors, ...options })
    formats.default(ajv, { mode: 'full' })
    return ajv
  }
  return { first: make(false), every: make(true) }
}
