/** A reason as the service stores it, as a sentence. */
export function sentence(reason: string | null): string {
  if (reason === null || reason === '') return ''
  const text = reason[0]?.toUpperCase() + reason.slice(1)
  return /[.!?]$/.test(text) ? text : `${text}.`
}
