import { type Control, ProviderError } from '../../contract/index.ts'

/** The message itself failed. One that does not exist has not. */
export function isFailure(result: unknown): result is ProviderError {
  return result instanceof ProviderError && result.kind !== 'not_found'
}

/** Whether a failure may be that of one message. The others concern the account. */
export function mayBeOfMessage({ kind, missingScope }: ProviderError): boolean {
  return (kind === 'unavailable' || kind === 'rejected') && !missingScope
}

/** The results of messages that are read together. When the request as a whole has failed, each message has its failure. Throws what concerns the account. */
export async function resultOfEach<Item, Result>(
  items: readonly Item[],
  read: (items: readonly Item[]) => Promise<Map<Item, Result | ProviderError>>,
): Promise<Map<Item, Result | ProviderError>> {
  if (items.length === 0) return new Map()
  try {
    return await read(items)
  } catch (error) {
    if (!(error instanceof ProviderError) || !mayBeOfMessage(error) || error.retryAfterMs !== undefined) throw error
    return new Map(items.map((item) => [item, error]))
  }
}

/**
 * Whether the provider returns messages at all, although all of `count` failed: it returns the control, or knows that it was deleted.
 * Without a control, a single message is at fault.
 */
export async function isReading(
  control: Control | undefined,
  count: number,
  read: (id: string) => Promise<unknown>,
): Promise<boolean> {
  const id = (await control?.()) ?? null
  if (id === null) return count === 1
  try {
    return !isFailure(await read(id))
  } catch (error) {
    if (error instanceof ProviderError) return false
    throw error
  }
}
