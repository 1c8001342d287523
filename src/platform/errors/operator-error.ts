/** A message for the operator, who can correct what it names. The log shows it, and its causes, without a stack. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}
