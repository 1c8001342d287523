import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

/** Reads an answer that must look like this; members not named are passed over. What it throws never quotes the answer. */
export function shape<Schema extends TSchema>(schema: Schema): (body: unknown) => Static<Schema> {
  const compiled = Compile(schema)
  return (body) => {
    if (!compiled.Check(body)) throw new TypeError('the answer has not the expected form')
    return body
  }
}
