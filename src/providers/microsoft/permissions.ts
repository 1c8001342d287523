/** Finds the first name after the mailbox in a path, such as `messages`. */
const BELOW_MAILBOX = /^\/(?:me|users\/[^/?]+)\/(\w+)/
const AREAS: Readonly<Record<string, string>> = {
  messages: 'Mail',
  mailFolders: 'Mail',
  calendar: 'Calendars',
  calendars: 'Calendars',
  calendarView: 'Calendars',
  events: 'Calendars',
  contacts: 'Contacts',
  contactFolders: 'Contacts',
}

/** The permission that a request takes. Undefined for one that leads to no mailbox, and for a batch. */
export function findPermission({ method = '', path = '' }: { method?: string; path?: string }): string | undefined {
  const [endpoint = ''] = path.split('?')
  const area = AREAS[BELOW_MAILBOX.exec(endpoint)?.[1] ?? '']
  if (area === undefined) return undefined
  if (method === 'POST' && area === 'Mail' && endpoint.endsWith('/send')) return 'Mail.Send'
  const isRead = method === 'GET' || endpoint.endsWith('/getSchedule')
  return isRead ? `${area}.Read or ${area}.ReadWrite` : `${area}.ReadWrite`
}
