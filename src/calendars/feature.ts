import type { Feature } from '../feature.ts'
import { calendarEvents } from './events.ts'
import { eraseCalendars } from './store.ts'

export const calendarsFeature = {
  name: 'calendars',
  tables: {
    calendars: { deletedBy: ['erase'] },
    calendarEvents: { deletedBy: ['erase'] },
    calendarInstances: { deletedBy: ['erase'] },
    calendarListings: { deletedBy: ['erase'] },
    calendarSubscriptions: { deletedBy: ['erase'] },
    unreadableEvents: { deletedBy: ['erase'] },
  },
  events: calendarEvents,
  erase: [eraseCalendars],
} as const satisfies Feature
