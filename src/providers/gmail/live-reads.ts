import { Readable } from 'node:stream'
import * as Type from 'typebox'
import { type ByteRange, byteRange } from '../../platform/concurrency/byte-stream.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type IdLiveReads, ProviderError } from '../contract/index.ts'
import { allParts, attachmentName, fileType } from '../shared/mime/index.ts'
import { parser, type RestRequest } from '../shared/rest/index.ts'
import { ME } from './client.ts'
import { listLabels } from './folders.ts'
import { type GmailPart, messageBody, payloadParts } from './map.ts'
import type { GmailMailbox } from './quota.ts'
import { searchMailbox } from './search.ts'

/** The longest response of a text read, in base64. */
const MAX_TEXT_BYTES = 24 * 1024 * 1024

const parseMessage = parser(Type.Object({ payload: Type.Unknown() }))
const parseAttachment = parser(Type.Object({ data: Type.String() }))

export function gmailLiveReads(mailbox: GmailMailbox, clock: Clock): IdLiveReads {
  const messagePath = (id: string) => `${ME}/messages/${encodeURIComponent(id)}`

  function readPayload(id: string, doing: string): Promise<{ payload: unknown }> {
    const query = { format: 'full', fields: 'id,payload' }
    const request: RestRequest = { method: 'GET', path: messagePath(id), query, doing, cost: mailbox.costs.message }
    return mailbox.json({ ...request, maxBytes: MAX_TEXT_BYTES }, parseMessage)
  }

  function attachmentRequest(id: string, { attachmentId = '' }: GmailPart, doing: string): RestRequest {
    const path = `${messagePath(id)}/attachments/${encodeURIComponent(attachmentId)}`
    return { method: 'GET', path, query: { fields: 'data' }, doing, cost: mailbox.costs.attachment }
  }

  async function readMember(request: RestRequest, member: string, range: ByteRange | undefined): Promise<Readable> {
    const { body } = await mailbox.open(request)
    const decoded = Readable.from(base64Member(body, member, request.doing), { objectMode: false, highWaterMark: 1 })
    const bytes = range === undefined ? decoded : byteRange(decoded, range)
    return bytes.once('close', () => body.destroy())
  }

  return {
    listFolders: () => listLabels(mailbox),
    search: (request) => searchMailbox(mailbox, clock, request),

    async getBody({ providerMessageId: id }) {
      const doing = 'reading a message'
      return messageBody(await readPayload(id, doing), async (part) => {
        if (part.attachmentId === undefined) return Buffer.alloc(0)
        const request = { ...attachmentRequest(id, part, doing), maxBytes: MAX_TEXT_BYTES }
        return Buffer.from((await mailbox.json(request, parseAttachment)).data, 'base64url')
      })
    },

    async openRaw({ providerMessageId: id }) {
      const query = { format: 'raw', fields: 'raw' }
      const doing = 'reading a message'
      const request = { method: 'GET', path: messagePath(id), query, doing, cost: mailbox.costs.message } as const
      return { sizeBytes: null, read: (range) => readMember(request, 'raw', range) }
    },

    // The stored id is the part number, because Gmail's attachment id differs in every response.
    async openAttachment({ providerMessageId: id }, partId) {
      const doing = 'reading an attachment'
      const { root, gmailPart } = payloadParts((await readPayload(id, doing)).payload)
      const part = allParts(root).find((part) => part.id === partId && part.children.length === 0)
      if (part === undefined) throw new ProviderError('not_found', `${doing}: the message has no such part`)
      const file = { contentType: fileType(part), filename: attachmentName(part) }
      const { attachmentId, data } = gmailPart(part)
      if (attachmentId !== undefined) {
        const request = attachmentRequest(id, { attachmentId, data }, doing)
        return { ...file, sizeBytes: null, read: (range) => readMember(request, 'data', range) }
      }
      if (data === undefined) {
        throw new ProviderError('rejected', `${doing}: Gmail returns this part with the raw message only`)
      }
      const content = Buffer.from(data, 'base64url')
      return {
        ...file,
        sizeBytes: content.length,
        read: async (range = { from: 0 }) => byteRange(Readable.from([content], { objectMode: false }), range),
      }
    },
  }
}

/** How many bytes may precede the member. */
const MAX_BYTES_BEFORE = 256 * 1024
const NOT_BASE64 = /[^A-Za-z0-9+/_-]/

/**
 * Decodes one base64url string of a JSON response as it arrives, so that a message of 50 MB is never in memory as a whole. Throws
 * `unavailable` when the member is missing or the response ends early.
 */
export async function* base64Member(
  chunks: AsyncIterable<Buffer>,
  name: string,
  doing: string,
): AsyncGenerator<Buffer> {
  const opening = new RegExp(`"${name}"\\s*:\\s*"`)
  let text = ''
  let isInside = false
  let isComplete = false
  for await (const chunk of chunks) {
    // Reads the short rest too, so that the connection can be reused.
    if (isComplete) continue
    text += chunk.toString('latin1')
    if (!isInside) {
      const found = opening.exec(text)
      if (found === null && text.length > MAX_BYTES_BEFORE) break
      if (found === null) continue
      text = text.slice(found.index + found[0].length)
      isInside = true
    }
    // The string ends with a quote or with padding, which Google writes as an escape.
    const end = text.search(NOT_BASE64)
    if (end !== -1) {
      if (!'"=\\'.includes(text[end] ?? '')) break
      isComplete = true
      yield Buffer.from(text.slice(0, end), 'base64url')
      continue
    }
    const decodable = text.length - (text.length % 4)
    if (decodable > 0) yield Buffer.from(text.slice(0, decodable), 'base64url')
    text = text.slice(decodable)
  }
  if (!isComplete) throw new ProviderError('unavailable', `${doing}: the response could not be read`)
}
