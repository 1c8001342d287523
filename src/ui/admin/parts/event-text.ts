type Data = Readonly<Record<string, unknown>>

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * What an event is about, which distinguishes it from others of its type: a subject, a guest, a folder. Empty when the data has
 * nothing of the kind, or the event was erased.
 */
export function describeEvent(data: unknown): string {
  const { subject, summary, guest, folder, email, url, message }: Data = Object(data)
  const { name, email: address }: Data = Object(guest)
  if (subject === '') return '(no subject)'
  for (const found of [subject, summary, name, address, folder, email, url, message]) {
    if (text(found) !== '') return text(found)
  }
  return ''
}
