import { type Header, headerValue } from '../headers.ts'
import { readParameters } from '../parameters.ts'
import { type RawPart, rawFields, rawTree } from '../raw-tree.ts'
import { transferDecoder } from '../transfer-decoding.ts'

/** A message or a part of one. */
export interface ReportPart {
  headers: Header[]
  /** In lower case. */
  type: string
  /** Encoded. */
  body: Buffer
  children: ReportPart[]
}

/** Reads the beginning of a message, which may end anywhere. */
export function readParts(bytes: Buffer): ReportPart {
  return partOf(bytes, rawTree(bytes, { isWhole: false }))
}

function partOf(bytes: Buffer, raw: RawPart): ReportPart {
  return {
    headers: rawFields(bytes, raw),
    type: raw.type,
    body: bytes.subarray(raw.bodyStart, raw.bodyEnd),
    children: raw.children.map((child) => partOf(bytes, child)),
  }
}

/** A parameter of the content type. */
export function parameterOf({ headers }: Pick<ReportPart, 'headers'>, name: string): string | undefined {
  return readParameters(headerValue(headers, 'content-type') ?? '').parameters.get(name)
}

/** The beginning of the body, decoded. */
export function decodedBody({ headers, body }: ReportPart, maxBytes: number): Buffer {
  const decoder = transferDecoder(headerValue(headers, 'content-transfer-encoding') ?? '')
  return Buffer.concat([decoder.write(body.subarray(0, maxBytes)), decoder.end()]).subarray(0, maxBytes)
}
