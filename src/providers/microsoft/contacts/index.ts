/** Outlook contacts over Graph: folders as address books, sync by one delta query per folder, changes and photos. */
import type { Clock } from '../../../platform/time/clock.ts'
import {
  type ContactPhoto,
  type ContactPhotoRequest,
  type ContactsProvider,
  type MailAccess,
  ProviderError,
} from '../../contract/index.ts'
import { readBytes, single } from '../../shared/rest/index.ts'
import { type Graph, segment } from '../client.ts'
import { listBooks } from './books.ts'
import { microsoftContactEdits } from './edits.ts'
import { syncFolder } from './sync.ts'

const READING_PHOTO = 'reading the photo of a contact'

export function microsoftContacts(
  openGraph: (access: MailAccess, urgent: boolean) => Graph,
  clock: Clock,
): ContactsProvider {
  return {
    open: (access) => ({
      listBooks: (signal) => listBooks(openGraph(access, false), signal),
      syncContacts: (request) => syncFolder(openGraph(access, false), request, clock),
      readPhoto: (request) => readPhoto(openGraph(access, true), request),
    }),
    edits: (access) => microsoftContactEdits(openGraph(access, true)),
  }
}

async function readPhoto(
  graph: Graph,
  { contactId, maxBytes, signal }: ContactPhotoRequest,
): Promise<ContactPhoto | null> {
  const path = `/me/contacts/${segment(contactId)}/photo/$value`
  try {
    const { headers, body } = await graph.open(path, { doing: READING_PHOTO, signal })
    return {
      contentType: single(headers['content-type']) ?? '',
      bytes: await readBytes(body, { maxBytes, doing: READING_PHOTO }),
    }
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'not_found') return null
    throw error
  }
}
