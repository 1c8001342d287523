import type { MessageStructureObject } from 'imapflow'
import { cleanText, truncateText } from '../../lib/text.ts'
import type { RemoteAttachment } from '../contract/index.ts'
import { attachmentName, bareContentId } from '../mime/index.ts'

/** A part that holds bytes: what BODYSTRUCTURE says about it. */
export interface Leaf {
  /** The part number, as `BODY[1.2]` wants it. */
  part: string
  type: string
  charset: string | undefined
  encoding: string
  /** Encoded, as it stands at the server. */
  sizeBytes: number
  filename: string | undefined
  disposition: string | undefined
  contentId: string | undefined
}

const ATTACHMENTS_LIMIT = 200
const NAME_LIMIT = 255

/** Parts in the order of the mail. An attached mail (message/rfc822) is one part; its own parts are not ours. */
export function leaves(root: MessageStructureObject): Leaf[] {
  if (root.type !== 'message/rfc822' && root.childNodes !== undefined) return root.childNodes.flatMap(leaves)
  const filename = root.dispositionParameters?.filename ?? root.parameters?.name
  return [
    {
      part: root.part ?? '1',
      type: root.type,
      charset: root.parameters?.charset,
      encoding: root.encoding ?? '7bit',
      sizeBytes: root.size ?? 0,
      filename,
      disposition: root.disposition,
      contentId: root.id,
    },
  ]
}

/** A part people read as the mail itself. */
export function isBodyText(leaf: Leaf, type: 'text/plain' | 'text/html'): boolean {
  return leaf.type === type && leaf.disposition !== 'attachment' && leaf.filename === undefined
}

/** Everything that is not the text of the mail. */
export function attachmentsOf(all: readonly Leaf[]): RemoteAttachment[] {
  return all
    .filter((leaf) => !isBodyText(leaf, 'text/plain') && !isBodyText(leaf, 'text/html'))
    .slice(0, ATTACHMENTS_LIMIT)
    .map((leaf) => ({
      id: leaf.part,
      filename: attachmentName({ ...leaf, id: leaf.part }),
      contentType: truncateText(cleanText(leaf.type), NAME_LIMIT),
      sizeBytes: decodedSize(leaf),
      inline: leaf.disposition === 'inline' || (leaf.disposition === undefined && leaf.contentId !== undefined),
      contentId: bareContentId(leaf.contentId),
    }))
}

/** Base64 in lines of 76 carries 57 bytes in 78; other encodings are close to their size. */
function decodedSize(leaf: Leaf): number {
  return leaf.encoding === 'base64' ? Math.floor((leaf.sizeBytes * 57) / 78) : leaf.sizeBytes
}
