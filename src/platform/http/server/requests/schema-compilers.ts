import { Ajv, type ErrorObject } from 'ajv'
import formats from 'ajv-formats'
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import { lazy } from '../../../concurrency/lazy.ts'
import { type AppError, invalidFields } from '../../../errors/app-error.ts'
import { isEmailAddress } from '../../../formats/email-address.ts'
import { compileWriter } from '../../../formats/json-schema.ts'
import { OWN_SCHEMAS } from '../../../formats/schema-check.ts'
import { parseTime } from '../../../time/time.ts'
import { type MisspelledName, misspelledNames } from './misspelled-names.ts'
import { type ValidationError, validationErrors } from './validation-errors.ts'

/** HTTP header names have no case, and path parameters no names. */
const MISSPELLED_PARTS = new Set(['body', 'querystring'])
const TEXT_PARTS = new Set(['querystring', 'params'])
const PART_NAMES: Record<string, string> = { body: 'body', params: 'path', querystring: 'query', headers: 'headers' }

/** Above this size only the first error is reported: each error costs a few hundred bytes. */
const ALL_ERRORS_MAX_CHARS = 64 * 1024
const MAX_DETAILS = 50

/** Addresses and times have one definition each, wherever a request contains them. Those of ajv-formats are others. */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  email: isEmailAddress,
  'idn-email': isEmailAddress,
  'date-time': (text) => parseTime(text) !== undefined,
}

/** Compiles a schema that otherwise the first request of its route waits for. */
export interface SchemaWarmUp {
  /** The path of the route, such as `/accounts/:accountId`. */
  path: string
  compile(): unknown
}

/**
 * Compiles the schema of one part of a request. Query and path values are text and converted to the schema's types; a body is
 * not. Unknown members pass, unless they misspell a known one. A missing body counts as `{}`, so that a body of optional members may be omitted.
 * Compiled when first needed, or by `warmUps`: all routes at once would double the time to start. Servers of one process share what they compile.
 */
export function validatorCompiler(warmUps: SchemaWarmUp[] = []): FastifySchemaCompiler<Record<string, unknown>> {
  return ({ schema, url, httpPart = '' }) => {
    const findFirst = () => firstErrorValidator(schema)
    const findAll = () => allErrorsValidator(schema)
    warmUps.push({ path: url, compile: findFirst })
    const misspelled = MISSPELLED_PARTS.has(httpPart) ? lazy(() => misspelledNames(schema)) : undefined
    const part = PART_NAMES[httpPart] ?? httpPart
    const read = TEXT_PARTS.has(httpPart) ? queryReader(schema) : (value: unknown) => value
    return (data: unknown) => {
      const value = read(data ?? {})
      const names = misspelled?.()(value, MAX_DETAILS) ?? []
      if (findFirst()(value) && names.length === 0) return { value }
      const check = JSON.stringify(value).length <= ALL_ERRORS_MAX_CHARS ? findAll() : findFirst()
      check(value)
      return { error: requestError(part, names, check.errors ?? []) }
    }
  }
}

/** Writes responses by their schemas, compiled when first needed or by `warmUps`. */
export function serializerCompiler(warmUps: SchemaWarmUp[] = []): FastifySerializerCompiler<Record<string, unknown>> {
  return ({ schema, url }) => {
    warmUps.push({ path: url, compile: () => schemaSerializer(schema) })
    return (data: unknown) => schemaSerializer(schema)(data)
  }
}

/** The value with the defaults of its schema, for what arrives in another way than as the body of a route. Throws validation_failed. */
export function requireValid(schema: object, value: unknown): unknown {
  const validate = validatorCompiler()({ schema: Object(schema), method: 'POST', url: '', httpPart: 'body' })
  const result = validate(value)
  if (typeof result !== 'object' || !('error' in result) || result.error === undefined) return value
  throw result.error
}

/** Throws for misspelled members of a body. For routes that validate the rest of their body themselves. */
export function refuseMisspelledMembers(schema: unknown, body: unknown): void {
  const names = misspelledNames(schema)(body, MAX_DETAILS)
  if (names.length > 0) throw requestError('body', names, [])
}

/** A required member that the caller misspelled is reported once, by the name that the caller sent. */
function requestError(part: string, names: readonly MisspelledName[], errors: readonly ErrorObject[]): AppError {
  const meant = new Set(names.map(({ path, declared }) => JSON.stringify([...path.slice(0, -1), declared])))
  const misspelled: ValidationError[] = names.map(({ path, declared }) => ({
    path,
    message: `is unknown; use "${declared}"`,
  }))
  const others = validationErrors(errors).filter(({ path }) => !meant.has(JSON.stringify(path)))
  const details = [...misspelled, ...others]
    .slice(0, MAX_DETAILS)
    .map(({ path, message }) => ({ path: [part, ...path].join('.'), message }))
  return invalidFields(details)
}

/** Schemas are constants, so that what was compiled once stays valid. */
function perSchema<Compiled>(compile: (schema: object) => Compiled): (schema: object) => Compiled {
  const compiled = new WeakMap<object, Compiled>()
  return (schema) => {
    const cached = compiled.get(schema)
    if (cached !== undefined) return cached
    const made = compile(schema)
    compiled.set(schema, made)
    return made
  }
}

const firstErrors = lazy(() => makeAjv(false))
const allErrors = lazy(() => makeAjv(true))
const firstErrorValidator = perSchema((schema) => firstErrors().compile(schema))
const allErrorsValidator = perSchema((schema) => allErrors().compile(schema))
const schemaSerializer = perSchema(compileWriter)

function makeAjv(allErrors: boolean): Ajv {
  const ajv = new Ajv({ ...OWN_SCHEMAS, useDefaults: true, verbose: true, allErrors })
  formats.default(ajv, { mode: 'full' })
  for (const [name, validate] of Object.entries(FORMATS)) ajv.addFormat(name, { type: 'string', validate })
  return ajv
}

/** Query and path values are text. `NaN` never results: text that is no number stays text, which the schema then refuses. */
type Reader = (text: string) => unknown

const READERS: Readonly<Record<string, Reader>> = {
  integer: (text) => (/^-?\d+$/.test(text) ? Number(text) : text),
  number: (text) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text),
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : text),
}

/**
 * Converts text to the numbers and booleans that the schema of a query or path declares. Only decimal digits are a number: `Number`
 * alone also reads `1e2`, `0x10`, ` 5` and the empty text. A repeated parameter is a list and stays one.
 */
function queryReader(schema: unknown): (value: unknown) => unknown {
  const readers = Object.entries(readProperties(schema)).flatMap(([name, member]) => {
    const reader = READERS[readType(member)]
    return reader === undefined ? [] : [[name, reader] as const]
  })
  if (readers.length === 0) return (value) => value
  return (value) => {
    const converted: Record<string, unknown> = { ...Object(value) }
    for (const [name, reader] of readers) {
      const text = converted[name]
      if (typeof text === 'string') converted[name] = reader(text)
    }
    return converted
  }
}

function readProperties(schema: unknown): Record<string, unknown> {
  return { ...Object(Object(schema).properties) }
}

function readType(schema: unknown): string {
  const { type } = Object(schema)
  return typeof type === 'string' ? type : ''
}
