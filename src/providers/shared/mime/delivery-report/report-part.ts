import { type Header, headerValue } from '../headers/headers.ts'
import { decodedContent, largeRawTree, type RawPart, rawFields, rawTree } from '../tree/raw-tree.ts'

/** A message or a part of one. */
export interface ReportPart {
  headers: Header[]
  /** In lower case. */
  type: string
  /** Encoded. */
  body: Buffer
  children: ReportPart[]
}

/** Reads the beginning of a message, which may end anywhere, with pauses for other work. */
export async function readParts(bytes: Buffer): Promise<ReportPart> {
  return toReportPart(bytes, await largeRawTree(bytes, { isWhole: false }))
}

/** The header of a copied message, which may end anywhere. */
export function readHeader(bytes: Buffer): Header[] {
  return rawFields(bytes, rawTree(bytes, { isWhole: false }))
}

function toReportPart(bytes: Buffer, raw: RawPart): ReportPart {
  return {
    headers: rawFields(bytes, raw),
    type: raw.type,
    body: bytes.subarray(raw.bodyStart, raw.bodyEnd),
    children: raw.children.map((child) => toReportPart(bytes, child)),
  }
}

/** The beginning of the body, decoded. */
export function decodedBody({ headers, body }: ReportPart, maxBytes: number): Buffer {
  const encoding = headerValue(headers, 'content-transfer-encoding') ?? ''
  return decodedContent(body.subarray(0, maxBytes), encoding).subarray(0, maxBytes)
}
