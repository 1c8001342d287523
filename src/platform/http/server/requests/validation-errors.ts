import type { ErrorObject } from 'ajv'
import { TIME_PROBLEM } from '../../../time/time.ts'

/** One error for the caller: path `to.0`, message "must be an email address". */
export interface ValidationError {
  path: string[]
  message: string
}

/** Converts Ajv errors to messages for the caller, one per value to correct. */
export function validationErrors(errors: readonly ErrorObject[]): ValidationError[] {
  const unions = errors.filter((error) => error.keyword === 'anyOf' || error.keyword === 'oneOf')
  const relevant = errors.filter((error) => !unions.some((union) => isHiddenBy(union, error, errors)))
  const seen = new Set<string>()
  return relevant.map(validationError).filter(({ path, message }) => {
    const key = `${path.join('.')} ${message}`
    return !seen.has(key) && seen.add(key)
  })
}

/** For a union, reports either the union itself or the errors inside the branch that the caller meant. */
function isHiddenBy(union: ErrorObject, error: ErrorObject, all: readonly ErrorObject[]): boolean {
  const inside = (other: ErrorObject) => other.schemaPath.startsWith(`${union.schemaPath}/`)
  const meant = all.some(
    (other) => inside(other) && other.instancePath === union.instancePath && !isTypeMismatch(other),
  )
  const deep = all.some((other) => inside(other) && other.instancePath.length > union.instancePath.length)
  if (!(meant || deep)) return inside(error)
  return error === union || (inside(error) && error.instancePath === union.instancePath && isTypeMismatch(error))
}

function isTypeMismatch(error: ErrorObject): boolean {
  return error.keyword === 'type' || error.keyword === 'const' || error.keyword === 'enum'
}

function validationError(error: ErrorObject): ValidationError {
  const path = error.instancePath.split('/').slice(1).map(unescapePointer)
  return error.keyword === 'required'
    ? { path: [...path, String(error.params.missingProperty)], message: 'is required' }
    : { path, message: message(error) }
}

/** JSON Pointer (RFC 6901) writes `/` as `~1` and `~` as `~0`. */
function unescapePointer(text: string): string {
  return text.replaceAll('~1', '/').replaceAll('~0', '~')
}

const FORMATS: Record<string, string> = {
  email: 'must be an email address',
  'idn-email': 'must be an email address',
  uri: 'must be an absolute URL',
  'date-time': TIME_PROBLEM,
  date: 'must be a date such as 2026-01-31',
}

function message({ keyword, params, schema, parentSchema, message: fallback }: ErrorObject): string {
  switch (keyword) {
    case 'type':
      return `must be ${typeNames(params.type)}`
    case 'minLength':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} characters`
    case 'maxLength':
      return `must have at most ${params.limit} characters`
    case 'minimum':
      return `must be at least ${params.limit}`
    case 'maximum':
      return `must be at most ${params.limit}`
    case 'minItems':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} items`
    case 'maxItems':
      return `must have at most ${params.limit} items`
    case 'uniqueItems':
      return 'must not contain duplicates'
    case 'format':
      return FORMATS[String(params.format)] ?? `must be a valid ${params.format}`
    case 'pattern':
      return `must match ${params.pattern}`
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}`
    case 'enum':
      return describeChoices(params.allowedValues)
    case 'anyOf':
    case 'oneOf':
      return alternatives(schema) ?? alternatives(parentSchema?.[keyword]) ?? 'matches none of the allowed types'
    default:
      return fallback ?? 'is not valid'
  }
}

/** "must be one of: a, b" for a union of constants, "must be a string or null" for a union of types. */
function alternatives(branches: unknown): string | undefined {
  if (!Array.isArray(branches)) return undefined
  if (branches.every((branch) => 'const' in branch)) return describeChoices(branches.map((branch) => branch.const))
  if (branches.every((branch) => typeof branch.type === 'string')) {
    return `must be ${typeNames([...new Set(branches.map((branch) => branch.type))])}`
  }
  return undefined
}

function describeChoices(values: readonly unknown[]): string {
  return `must be one of: ${values.map(String).join(', ')}`
}

const TYPES: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

function typeNames(types: string | readonly string[]): string {
  return [types]
    .flat()
    .map((type) => TYPES[type] ?? type)
    .join(' or ')
}
