import { type NewDraft, ProviderError, type RemoteContent } from '../../contract/index.ts'
import { composeMessage } from './compose.ts'

/** Composes a new draft. It names every recipient, so that other programs show them. */
export function composeDraft({ body, attachments = [], ...draft }: NewDraft): Promise<Buffer> {
  const { text, html } = body
  const nothing = { replyTo: [], inReplyTo: null, references: [], sentToken: null, headers: [] }
  return composeMessage({ ...draft, ...nothing, text, html, attachments }, { keepBcc: true })
}

/** A message of 25 MB of attachments has 35 MB, and few mail servers take more than this. */
const MAX_DRAFT_BYTES = 50 * 1024 * 1024

/** Reads the bytes of a draft that is to change. Throws `rejected` for one that is too large to be in memory. */
export async function readDraft({ sizeBytes, read }: RemoteContent): Promise<Buffer> {
  if (sizeBytes !== null && sizeBytes > MAX_DRAFT_BYTES) throw tooLarge()
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of (await read()) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MAX_DRAFT_BYTES) throw tooLarge()
    chunks.push(chunk)
  }
  // Saving it would lose the draft.
  if (length === 0) throw new ProviderError('unavailable', 'reading a draft: the provider returned nothing')
  return Buffer.concat(chunks)
}

function tooLarge(): ProviderError {
  const limit = `${MAX_DRAFT_BYTES / 1024 / 1024} MB`
  return new ProviderError('rejected', `saving a draft: it is larger than ${limit}`, { unsupported: true })
}
