type Data = Readonly<Record<string, unknown>>

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * Names the object of an event, which distinguishes the event from others of its type: a subject, a guest, a folder. Empty when
 * the data names none, or the event was erased.
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
