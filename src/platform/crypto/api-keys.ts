const MAX_KEYS = 2

/**
 * The keys of SERVICE_API_KEY: one, or two separated by a comma while programs change from the second to the first. Throws for another
 * number.
 */
export function parseApiKeys(text: string): [string, ...string[]] {
  const [first, ...others] = text
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '')
  if (first === undefined || others.length >= MAX_KEYS) throw new Error('not one or two keys')
  return [first, ...others]
}
