/** The calendar of the examples of the API, at Google. */
export const GMAIL_USER = 'grace@acme.example'

export const STANDUP = {
  id: '4f6h8j1k3m5p7r9t',
  summary: 'Stand-up',
  location: 'Room 4',
  start: { dateTime: '2026-11-16T09:00:00', timeZone: 'Europe/Berlin' },
  end: { dateTime: '2026-11-16T09:15:00', timeZone: 'Europe/Berlin' },
  recurrence: ['RRULE:FREQ=WEEKLY;BYDAY=MO,WE,FR'],
}

export const INVITATION = {
  id: '7m9p1r3t5v7x9z2b',
  summary: 'Contract review',
  start: { dateTime: '2026-12-03T14:00:00', timeZone: 'Europe/Berlin' },
  end: { dateTime: '2026-12-03T15:00:00', timeZone: 'Europe/Berlin' },
  organizer: { email: 'lin@northwind.example', displayName: 'Lin Chen' },
  attendees: [
    { email: 'lin@northwind.example', displayName: 'Lin Chen', organizer: true, responseStatus: 'accepted' },
    { email: GMAIL_USER, self: true, responseStatus: 'needsAction' },
  ],
}
