/** Errors between threads. A clone would lose their class and their members. */

/** The parts of an error that are kept, with those of its cause, for the log. */
export interface EncodedError {
  name: string
  message: string
  stack: string | undefined
  /** Its own members that are texts, numbers and booleans. */
  members: Record<string, string | number | boolean>
  cause?: EncodedError
}

/** Makes an error of a class, by the name of the class. */
export type ErrorMakers = Readonly<Record<string, (error: DecodedError) => Error>>

interface DecodedError {
  message: string
  members: EncodedError['members']
  cause: Error | undefined
}

/** Limits how deep the causes of an error are followed. */
const MAX_DEPTH = 4

export function encodeError(error: unknown, depth = 0): EncodedError {
  if (!(error instanceof Error)) return { name: 'Error', message: describeValue(error), stack: undefined, members: {} }
  const { name, message, stack, cause } = error
  const members: EncodedError['members'] = {}
  for (const [key, value] of Object.entries(error)) {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') members[key] = value
  }
  const encoded: EncodedError = {
    name: describeValue(name),
    message: describeValue(message),
    stack: stack === undefined ? undefined : describeValue(stack),
    members,
  }
  if (cause !== undefined && depth < MAX_DEPTH) encoded.cause = encodeError(cause, depth + 1)
  return encoded
}

/** Anything can be thrown, also what has no text. */
function describeValue(value: unknown): string {
  return typeof value === 'object' ? Object.prototype.toString.call(value) : String(value)
}

export function decodeError(encoded: EncodedError, makers: ErrorMakers): Error {
  const { name, message, stack, members } = encoded
  const cause = encoded.cause && decodeError(encoded.cause, makers)
  const make = makers[name]
  const error = make?.({ message, members, cause }) ?? Object.assign(new Error(message, { cause }), members, { name })
  if (stack !== undefined) error.stack = stack
  return error
}
