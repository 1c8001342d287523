import { Ajv, type ErrorObject, type Options } from 'ajv'
import formats from 'ajv-formats'
import fastJson from 'fast-json-stringify'
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import { type AppError, invalidFields } from '../../../lib/errors.ts'
import { lazy } from '../../../lib/lazy.ts'
import { validationErrors } from './validation-errors.ts'

const PART_NAMES: Record<string, string> = { body: 'body', params: 'path', querystring: 'query', headers: 'headers' }

/** Above this size only the first error is reported: each error costs a few hundred bytes. */
const ALL_ERRORS_MAX_CHARS = 64 * 1024
const MAX_DETAILS = 50

/**
 * Compiles the schema of one part of a request. Query and path values are text and coerced to the schema's types; a body is
 * not. Unknown members pass. A missing body counts as `{}`, so that a body of optional members may be omitted.
 * Compiled when first needed, or by `warmUps`: all routes at once would double the time to start.
 */
export function validatorCompiler(warmUps: (() => unknown)[] = []): FastifySchemaCompiler<Record<string, unknown>> {
  const strict = validators({ coerceTypes: false })
  const coercing = validators({ coerceTypes: true })
  return ({ schema, httpPart = '' }) => {
    const ajv = httpPart === 'body' ? strict : coercing
    const findFirst = lazy(() => ajv.first().compile(schema))
    const findAll = lazy(() => ajv.all().compile(schema))
    warmUps.push(findFirst)
    const part = PART_NAMES[httpPart] ?? httpPart
    return (data: unknown) => {
      const value = data ?? {}
      if (findFirst()(value)) return { value }
      const check = JSON.stringify(value).length <= ALL_ERRORS_MAX_CHARS ? findAll() : findFirst()
      check(value)
      return { error: requestError(part, check.errors ?? []) }
    }
  }
}

/** Writes responses by their schemas, compiled when first needed or by `warmUps`. */
export function serializerCompiler(
  warmUps: (() => unknown)[] = [],
): FastifySerializerCompiler<Record<string, unknown>> {
  return ({ schema }) => {
    const serializer = lazy(() => fastJson(schema))
    warmUps.push(serializer)
    return (data: unknown) => serializer()(data)
  }
}

function requestError(part: string, errors: readonly ErrorObject[]): AppError {
  const details = validationErrors(errors)
    .slice(0, MAX_DETAILS)
    .map(({ path, message }) => ({ path: [part, ...path].join('.'), message }))
  return invalidFields(details)
}

function validators(options: Options): { first: () => Ajv; all: () => Ajv } {
  const make = (allErrors: boolean) => {
    // Not validating the schemas, which are ours and tested, saves compiling the meta-schema at the first request.
    const own: Options = { validateSchema: false, meta: false, strict: false }
    const ajv = new Ajv({ useDefaults: true, verbose: true, allErrors, ...own, ...options })
    formats.default(ajv, { mode: 'full' })
    return ajv
  }
  return { first: lazy(() => make(false)), all: lazy(() => make(true)) }
}
