import { type Outbound, OutboundError } from '../../../platform/outbound/index.ts'
import { ProviderError } from '../../contract/index.ts'
import type { ComposedAttachment } from '../../shared/mime/index.ts'
import { type Json, list, object, parseJson, text } from '../../shared/rest/index.ts'
import { type Graph, messagePath } from '../client.ts'
import { MAX_ATTACHED_BYTES, TRANSFER_MS } from './limits.ts'

interface AttachOptions {
  doing: string
  signal: AbortSignal
}

/** Sends one range of a file to the address of an upload session. */
type Upload = (url: URL, headers: Record<string, string>, bytes: Buffer, options: AttachOptions) => Promise<Json>

/** Ranges of OneDrive must be multiples of 320 KiB; those of Outlook less than 4 MB. */
const RANGE_BYTES = 12 * 320 * 1024
/** Where Outlook's upload sessions are, in all clouds. No user can have a subdomain there. */
const UPLOAD_HOSTS =
  /^([\w-]+\.)*(outlook\.(office|office365|live)\.com|outlook(-dod)?\.office365\.us|partner\.outlook\.cn)$/

/** Adds a file to a draft: in one request, or if it is too large over an upload session. */
export type Attach = (messageId: string, attachment: ComposedAttachment, options: AttachOptions) => Promise<void>

export function attacher(graph: Graph, outbound: Outbound, accountId: string): Attach {
  const upload = uploader(graph, outbound, accountId)
  return (messageId, attachment, options) => addAttachment(graph, upload, messageId, attachment, options)
}

async function addAttachment(
  graph: Graph,
  upload: Upload,
  messageId: string,
  { filename, contentType, contentId, content }: ComposedAttachment,
  { doing, signal }: AttachOptions,
): Promise<void> {
  const path = `${messagePath(messageId)}/attachments`
  const bytes = await content()
  const file = { name: filename, contentType, isInline: contentId !== null, ...(contentId !== null && { contentId }) }
  if (bytes.length <= MAX_ATTACHED_BYTES) {
    const body = { '@odata.type': '#microsoft.graph.fileAttachment', ...file, contentBytes: bytes.toString('base64') }
    await graph.send('POST', path, { body, doing, signal, timeoutMs: TRANSFER_MS })
    return
  }
  const body = { AttachmentItem: { attachmentType: 'file', size: bytes.length, ...file } }
  const session = await graph.send('POST', `${path}/createUploadSession`, { body, doing, signal })
  const link = text(session.uploadUrl) ?? ''
  if (!URL.canParse(link)) throw new ProviderError('unavailable', `${doing}: Graph returned no address for the upload`)
  for (let start = 0; start < bytes.length; ) {
    const range = bytes.subarray(start, start + RANGE_BYTES)
    const end = start + range.length
    const headers = {
      'content-type': 'application/octet-stream',
      'content-range': `bytes ${start}-${end - 1}/${bytes.length}`,
    }
    const expected = nextExpected(await upload(new URL(link), headers, range, { doing, signal })) ?? end
    if (expected <= start || expected > end)
      throw new ProviderError('unavailable', `${doing}: Microsoft did not store what was uploaded`)
    start = expected
  }
}

/** The first byte that the service has not stored. Undefined after the last one. */
function nextExpected(session: Json): number | undefined {
  const [first] = list(session.nextExpectedRanges ?? session.NextExpectedRanges)
  const start = /^\d{1,15}/.exec(text(first) ?? '')?.[0]
  return start === undefined ? undefined : Number(start)
}

/** The address contains a token, so it goes into no error, and its requests carry no other. */
function uploader(graph: Graph, outbound: Outbound, accountId: string): Upload {
  return async (url, headers, bytes, { doing, signal }) => {
    if (graph.isOwn(url)) return graph.put(url, headers, bytes, { doing, signal, timeoutMs: TRANSFER_MS })
    if (url.protocol !== 'https:' || !UPLOAD_HOSTS.test(url.hostname)) {
      throw new ProviderError('unavailable', `${doing}: Graph returned an upload address at another host (${url.host})`)
    }
    const request = { method: 'PUT' as const, url: url.href, headers, body: bytes, connectionsOf: accountId }
    const response = await outbound.send({ ...request, timeoutMs: TRANSFER_MS, signal }).catch((error: unknown) => {
      if (!(error instanceof OutboundError)) throw error
      throw new ProviderError('unavailable', `${doing}: the upload failed. ${error.message}`, { cause: error })
    })
    const body = parseJson(response.body.toString())
    if (response.status >= 300) throw graph.toError({ ...response, body }, doing)
    return object(body)
  }
}
