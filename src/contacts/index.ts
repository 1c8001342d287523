/**
 * Contacts: address books, synced into rows that lists and searches read, with an event for each change. See
 * docs/decisions/0097-contacts.md.
 */
import type {} from './tables.ts'

export { contactChanger } from './edit/changer.ts'
export { contactGroupChanger } from './edit/group-changer.ts'
export { contactGroupChangeRoutes } from './edit/group-routes.ts'
export { contactChangeRoutes } from './edit/routes.ts'
export { contactsFeature } from './feature.ts'
export { accountAliases } from './people/aliases.ts'
export { peopleLearner } from './people/learner.ts'
export { contactPhotos } from './photo.ts'
export { contactReader } from './read/reader.ts'
export { contactRoutes } from './routes.ts'
export type { ContactTiming } from './sync/run.ts'
export { contactSync } from './sync/scheduler.ts'
