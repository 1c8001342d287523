/** Google contacts over the People API: one address book, sync by one sync token, groups, changes and photos. */
import type { Outbound } from '../../../platform/outbound/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import type { ContactsProvider } from '../../contract/index.ts'
import type { RestClient } from '../../shared/rest/index.ts'
import { googleContactEdits } from './edits.ts'
import { listGroups, readBook, requireBook } from './groups.ts'
import { readPhoto } from './photo.ts'
import { syncPersons } from './sync.ts'

export { CHANGE_LIMIT, peopleError, RATE_LIMIT } from './client.ts'

interface ContactsDeps {
  /** Root of `v1/people`. */
  peopleUrl: string
  reading: RestClient
  /** Sends the changes of a user one after the other. */
  changing: RestClient
  outbound: Outbound | undefined
  clock: Clock
}

export function googleContacts({ peopleUrl, reading, changing, outbound, clock }: ContactsDeps): ContactsProvider {
  const { origin } = new URL(peopleUrl)
  return {
    open(access) {
      const mailbox = reading.mailbox(access)
      const urgent = reading.mailbox(access, { urgent: true })
      return {
        listBooks: async (signal) => [await readBook(mailbox, signal)],
        listGroups: (signal) => listGroups(mailbox, signal),
        async *syncContacts({ bookId, ...request }) {
          requireBook(bookId, 'listing contacts')
          yield* syncPersons(mailbox, request, clock)
        },
        async readPhoto({ bookId, ...request }) {
          requireBook(bookId, 'reading the photo of a contact')
          return readPhoto({ mailbox: urgent, outbound, origin }, request)
        },
      }
    },
    edits: (access) =>
      googleContactEdits(reading.mailbox(access, { urgent: true }), changing.mailbox(access, { urgent: true })),
  }
}
