import { type ByteRange, byteRange } from '../../platform/concurrency/byte-stream.ts'
import { cleanText } from '../../platform/formats/text.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type IdLiveReads, type MessageBody, ProviderError } from '../contract/index.ts'
import { type Json, object, text } from '../shared/rest/index.ts'
import { type Graph, messagePath, requireBody, segment } from './client.ts'
import { FolderList } from './folders.ts'
import { AS_TEXT, attachmentFile, attachmentKind, readHeaders } from './map.ts'
import { searchMailbox } from './search.ts'

export function microsoftLiveReads(graph: Graph, clock: Clock): IdLiveReads {
  async function read(path: string, doing: string, range: ByteRange | undefined) {
    const { body } = await graph.open(path, { doing })
    return range === undefined ? body : byteRange(body, range)
  }

  return {
    listFolders: () => new FolderList(graph).list(),
    search: (request) => searchMailbox(graph, clock, request),

    /** Requests the original and the text version in one batch: Graph converts between them. */
    async getBody({ providerMessageId }) {
      const path = messagePath(providerMessageId)
      const original = { path, query: { $select: 'body,internetMessageHeaders' } }
      const asText = { path, query: { $select: 'body' }, prefer: [AS_TEXT] }
      const results = await graph.batch([original, asText], { doing: 'reading a message' })
      return messageBody(requireBody(results.get(original)), requireBody(results.get(asText)))
    },

    async openRaw({ providerMessageId }) {
      const path = `${messagePath(providerMessageId)}/$value`
      return { sizeBytes: null, read: (range) => read(path, 'reading a message', range) }
    },

    async openAttachment({ providerMessageId }, attachmentId) {
      const doing = 'reading an attachment'
      const path = `${messagePath(providerMessageId)}/attachments/${segment(attachmentId)}`
      const found = await graph.get(path, { doing, query: { $select: 'id,name,contentType' } }, object)
      if (attachmentKind(found) === 'reference') {
        throw new ProviderError('rejected', `${doing}: it is a link to a file stored elsewhere`)
      }
      return { ...attachmentFile(found), sizeBytes: null, read: (range) => read(`${path}/$value`, doing, range) }
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
    headers: readHeaders(original),
  }
}
