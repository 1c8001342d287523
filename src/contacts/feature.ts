import type { Feature } from '../feature.ts'
import { contactEvents } from './events.ts'
import { erasePeople } from './people/store.ts'
import { eraseContacts } from './store.ts'

export const contactsFeature = {
  name: 'contacts',
  tables: {
    contactBooks: { deletedBy: ['erase'] },
    contacts: { deletedBy: ['erase'] },
    contactKeys: { deletedBy: ['erase'] },
    contactGroups: { deletedBy: ['erase'] },
    contactGroupMembers: { deletedBy: ['erase'] },
    contactListings: { deletedBy: ['erase'] },
    unreadableContacts: { deletedBy: ['erase'] },
    correspondents: { deletedBy: ['erase'] },
  },
  events: contactEvents,
  erase: [eraseContacts, erasePeople],
} as const satisfies Feature
