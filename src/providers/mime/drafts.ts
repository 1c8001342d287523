import { buffer } from 'node:stream/consumers'
import type { NewDraft, OutgoingAttachment, RemoteFile, RemoteMessage } from '../contract/index.ts'
import { composeMessage } from './compose.ts'

/** Composes a new draft. It names every recipient, so that other programs show them. */
export function composeDraft(draft: NewDraft): Promise<Buffer> {
  return compose(draft, draft.attachments ?? [])
}

/** Composes the next version of a draft. What `content` does not say comes from the current version. */
export async function composeNextVersion(
  current: RemoteMessage,
  content: NewDraft,
  openAttachment: (id: string) => Promise<RemoteFile>,
): Promise<Buffer> {
  const attachments = content.attachments ?? (await readAll(current, openAttachment))
  const { from, messageId, inReplyTo, references, replyTo } = current
  const kept = { inReplyTo, references, replyTo }
  return compose(
    { ...content, from: from ?? content.from, messageId: messageId ?? content.messageId },
    attachments,
    kept,
  )
}

async function readAll(
  current: RemoteMessage,
  openAttachment: (id: string) => Promise<RemoteFile>,
): Promise<OutgoingAttachment[]> {
  const attachments: OutgoingAttachment[] = []
  // One after the other: each is in memory as a whole.
  for (const { id, inline, contentId } of current.attachments) {
    const { contentType, filename, read } = await openAttachment(id)
    attachments.push({
      filename,
      contentType,
      content: await buffer(await read()),
      contentId: inline ? contentId : null,
    })
  }
  return attachments
}

const NEW = { inReplyTo: null, references: [], replyTo: [] }

function compose(
  { body, ...draft }: NewDraft,
  attachments: OutgoingAttachment[],
  kept: Pick<RemoteMessage, 'inReplyTo' | 'references' | 'replyTo'> = NEW,
): Promise<Buffer> {
  return composeMessage({ ...draft, ...body, ...kept, attachments, sentToken: null, headers: [] }, { keepBcc: true })
}
