import { cleanText } from '../../lib/text.ts'
import { type LiveReads, type MessageBody, ProviderError } from '../contract/index.ts'
import { FolderList } from './folders.ts'
import { answered, type Graph, segment } from './graph.ts'
import { type Json, object, text, wholeNumber } from './json.ts'
import { AS_TEXT, attachmentFile, headersOf, kindOf } from './map.ts'
import { messagePath } from './messages.ts'

/** Live reads for API requests. */
export function microsoftLiveReads(graph: Graph): LiveReads<{ providerMessageId: string }> {
  return {
    listFolders: () => new FolderList(graph).list(),

    /** Both forms in one request: Graph turns one into the other. */
    async getBody({ providerMessageId }) {
      const path = messagePath(providerMessageId)
      const original = { path, query: { $select: 'body,internetMessageHeaders' } }
      const asText = { path, query: { $select: 'body' }, prefer: [AS_TEXT] }
      const outcome = await graph.batch([original, asText], { doing: 'reading a message' })
      return messageBody(answered(outcome.get(original)), answered(outcome.get(asText)))
    },

    async openRaw({ providerMessageId }) {
      const { headers, body } = await graph.open(`${messagePath(providerMessageId)}/$value`, {
        doing: 'reading a message',
      })
      return { sizeBytes: wholeNumber(headers['content-length']) ?? 0, stream: body }
    },

    async openAttachment({ providerMessageId }, attachmentId) {
      const doing = 'reading an attachment'
      const path = `${messagePath(providerMessageId)}/attachments/${segment(attachmentId)}`
      const found = await graph.get(path, { doing, query: { $select: 'id,name,contentType' } }, object)
      if (kindOf(found) === 'reference') {
        throw new ProviderError('rejected', `${doing}: it is a link to a file that stands elsewhere`)
      }
      const { body } = await graph.open(`${path}/$value`, { doing })
      return { ...attachmentFile(found), stream: body }
    },
  }
}

function messageBody(original: Json, asText: Json): MessageBody {
  const [body, plain] = [object(original.body), object(asText.body)]
  const isHtml = text(body.contentType)?.toLowerCase() === 'html'
  const content = (value: unknown) => cleanText(text(value) ?? '').replaceAll('\r\n', '\n')
  return {
    html: isHtml ? cleanText(text(body.content) ?? '') : null,
    text: content(isHtml ? plain.content : body.content),
    headers: headersOf(original),
  }
}
