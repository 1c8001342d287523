import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import type { Static, TSchema } from 'typebox'
import { lazy } from '../concurrency/lazy.ts'
import { UNOPTIMISED } from './json-schema.ts'

/**
 * Options for our own schemas, which are tested: without checking them, the meta-schema need not be compiled. `JSON.parse` reads 1e999 as
 * infinity, which is no number.
 */
export const OWN_SCHEMAS: Options = {
  ...UNOPTIMISED,
  validateSchema: false,
  meta: false,
  strict: false,
  strictNumbers: true,
}

const firstFault = lazy(() => new Ajv(OWN_SCHEMAS))
const allFaults = lazy(() => new Ajv({ ...OWN_SCHEMAS, allErrors: true }))

/** Returns whether a value, which a stranger may have written, has the form of the schema. Compiled at the first use. */
export function schemaCheck<Schema extends TSchema>(schema: Schema): (value: unknown) => value is Static<Schema> {
  const check = lazy((): ValidateFunction => firstFault().compile(schema))
  return (value): value is Static<Schema> => check()(value)
}

/** One reason why a value does not have the form of a schema. */
export interface SchemaFault {
  /** JSON Pointer to the member; empty for the value itself. */
  path: string
  /** A predicate, such as `must be string`. */
  message: string
}

/** Returns all faults of a value; none when it has the form of the schema. Compiled at the first use. */
export function schemaFaults(schema: TSchema): (value: unknown) => SchemaFault[] {
  const check = lazy(() => allFaults().compile(schema))
  return (value) => {
    if (check()(value)) return []
    return (check().errors ?? []).map(describeFault)
  }
}

function describeFault({ instancePath, params, message = 'is invalid' }: ErrorObject): SchemaFault {
  const { missingProperty, additionalProperty } = params
  if (missingProperty !== undefined) return { path: `${instancePath}/${missingProperty}`, message: 'is missing' }
  if (additionalProperty !== undefined) return { path: `${instancePath}/${additionalProperty}`, message: 'is unknown' }
  return { path: instancePath, message }
}
