import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { type LiveReads, ProviderError } from '../contract/index.ts'
import { attachmentName, cleanField } from '../mime/index.ts'
import { type RestMailbox, type RestRequest, shape } from '../rest/index.ts'
import { COST, ME } from './api.ts'
import { base64Member } from './base64-member.ts'
import { listLabels } from './labels.ts'
import { messageBody } from './map.ts'
import { leafParts, type Part } from './parts.ts'

/** Base64 of a text that nobody reads to its end. */
const TEXT_BYTES = 24 * 1024 * 1024
const TYPE_LIMIT = 255

const message = shape(Type.Object({ payload: Type.Unknown() }))
const attachment = shape(Type.Object({ data: Type.String() }))

/** Live reads of one mailbox. */
export function gmailLiveReads(mailbox: RestMailbox): LiveReads<{ providerMessageId: string }> {
  const pathOf = (id: string) => `${ME}/messages/${encodeURIComponent(id)}`

  function readPayload(id: string, doing: string): Promise<{ payload: unknown }> {
    const query = { format: 'full', fields: 'id,payload' }
    const request: RestRequest = { method: 'GET', path: pathOf(id), query, doing, cost: COST.message }
    return mailbox.json({ ...request, maxBytes: TEXT_BYTES }, message)
  }

  function attachmentRequest(id: string, { attachmentId = '' }: Part, doing: string): RestRequest {
    const path = `${pathOf(id)}/attachments/${encodeURIComponent(attachmentId)}`
    return { method: 'GET', path, query: { fields: 'data' }, doing, cost: COST.attachment }
  }

  async function streamed(request: RestRequest, member: string): Promise<Readable> {
    const { body } = await mailbox.open(request)
    const bytes = Readable.from(base64Member(body, member, request.doing), { objectMode: false, highWaterMark: 1 })
    return bytes.once('close', () => body.destroy())
  }

  return {
    listFolders: () => listLabels(mailbox),

    async getBody({ providerMessageId: id }) {
      const doing = 'reading a message'
      return messageBody(await readPayload(id, doing), async (part) => {
        if (part.attachmentId === undefined) return Buffer.alloc(0)
        const request = { ...attachmentRequest(id, part, doing), maxBytes: TEXT_BYTES }
        return Buffer.from((await mailbox.json(request, attachment)).data, 'base64url')
      })
    },

    async openRaw({ providerMessageId: id }) {
      const query = { format: 'raw', fields: 'raw' }
      const request: RestRequest = {
        method: 'GET',
        path: pathOf(id),
        query,
        doing: 'reading a message',
        cost: COST.message,
      }
      return { sizeBytes: null, stream: await streamed(request, 'raw') }
    },

    // Gmail's own id of an attachment is another with every answer; what is kept is the number of its part.
    async openAttachment({ providerMessageId: id }, partId) {
      const doing = 'reading an attachment'
      const part = leafParts((await readPayload(id, doing)).payload).find((one) => one.id === partId)
      if (part === undefined) throw new ProviderError('not_found', `${doing}: there is no such part`)
      const contentType = cleanField(part.type, TYPE_LIMIT)
      const filename = attachmentName(part)
      if (part.attachmentId !== undefined) {
        return { contentType, filename, stream: await streamed(attachmentRequest(id, part, doing), 'data') }
      }
      if (part.data === undefined) {
        throw new ProviderError('rejected', `${doing}: Gmail gives this part with the raw message only`)
      }
      return {
        contentType,
        filename,
        stream: Readable.from([Buffer.from(part.data, 'base64url')], { objectMode: false }),
      }
    },
  }
}
