import { fence } from '../../accounts/cluster/index.ts'
import {
  accountAliases,
  contactChangeRoutes,
  contactChanger,
  contactGroupChangeRoutes,
  contactGroupChanger,
  contactPhotos,
  contactReader,
  contactRoutes,
  contactSync,
  peopleLearner,
} from '../../contacts/index.ts'
import type { App as HttpServer } from '../../platform/http/index.ts'
import type { Features } from '../features.ts'
import type { Part } from '../start-stop.ts'
import type { Accounts } from './accounts.ts'
import type { FeatureOptions } from './options.ts'
import type { Shared } from './shared.ts'

/** Contacts: what is read, changed and synced. Nothing is synced while the setting is off. */
export function openContacts(shared: Shared, { accounts, mailboxes, ownership }: Accounts, options: FeatureOptions) {
  const { contacts, sending } = mailboxes
  const isEnabled = shared.config.contactsEnabled
  const access = { ...shared, accounts, contacts, isEnabled }
  const contactLists = contactReader(access)
  const contactChanges = contactChanger(access)
  const contactGroupChanges = contactGroupChanger(access)
  const photos = contactPhotos(access)
  const contactRuns = contactSync({
    ...shared,
    accounts,
    ownership,
    fence,
    contacts,
    ...(options.contacts && { timing: options.contacts }),
  })
  const learner = peopleLearner({ ...shared, aliases: accountAliases({ ...shared, accounts, sending }) })
  const parts: readonly Part[] = [
    { start: contactRuns.start, stop: contactRuns.stop, stopsWith: 'work' },
    { start: learner.start, stop: learner.stop, stopsWith: 'work' },
  ]
  return {
    contactLists,
    contactChanges,
    contactGroupChanges,
    contactPhotos: photos,
    contactRuns,
    contactParts: isEnabled ? parts : [],
  }
}

export function contactsRoutes(server: HttpServer, features: Features): void {
  const { contactChanges, contactGroupChanges, contactLists, contactPhotos: photos, idempotency } = features
  contactRoutes(server, contactLists)
  contactChangeRoutes(server, { changer: contactChanges, photos, idempotency })
  contactGroupChangeRoutes(server, { changer: contactGroupChanges, idempotency })
}
