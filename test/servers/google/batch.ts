import { randomBytes } from 'node:crypto'
import type { FakeRequest, FakeResponse } from '../fake/http-server.ts'
import { badRequest } from './errors.ts'

const MAX_PARTS = 100

/** `POST /batch/gmail/v1`: each part is a complete HTTP request with its own status. A part without `Authorization` uses that of the batch. */
export async function handleBatch(
  request: FakeRequest,
  handlePart: (part: FakeRequest) => Promise<FakeResponse>,
): Promise<FakeResponse> {
  const boundary = /boundary="?([^";]+)"?/i.exec(request.headers.get('content-type') ?? '')?.[1]
  if (!boundary) return badRequest('The batch has no boundary.')
  const parts = split(request.body.toString('latin1'), boundary)
  if (parts.length === 0) return badRequest('The batch is empty.')
  if (parts.length > MAX_PARTS) return badRequest(`The batch request may have at most ${MAX_PARTS} parts.`)
  const responses = await Promise.all(parts.map((text) => handlePartText(text, request, handlePart)))
  const cut = responses.find(
    (response) => typeof response === 'string' && (response === 'hang' || response === 'reset'),
  )
  if (cut === 'hang' || cut === 'reset') return cut
  const out = `batch_${randomBytes(8).toString('hex')}`
  const body = `${responses.map((response) => `--${out}\r\n${response}\r\n`).join('')}--${out}--\r\n`
  return new Response(body, { headers: { 'content-type': `multipart/mixed; boundary=${out}` } })
}

async function handlePartText(
  text: string,
  outer: FakeRequest,
  handlePart: (part: FakeRequest) => Promise<FakeResponse>,
): Promise<string> {
  const [partHead = '', emulator = ''] = cutAtBlankLine(text)
  const [head = '', body = ''] = cutAtBlankLine(emulator)
  const [requestLine = '', ...headerLines] = head.split(/\r?\n/)
  const [method = '', target = ''] = requestLine.trim().split(' ')
  const headers = new Headers(outer.headers)
  headers.delete('content-type')
  for (const line of headerLines) {
    const at = line.indexOf(':')
    if (at > 0) headers.set(line.slice(0, at).trim(), line.slice(at + 1).trim())
  }
  const url = URL.canParse(target, outer.url.href) ? new URL(target, outer.url) : outer.url
  const response = await handlePart({ method, url, headers, body: Buffer.from(body, 'latin1'), signal: outer.signal })
  if (typeof response === 'string') return response
  const contentId = /^content-id:\s*<?([^>\r\n]*)>?\s*$/im.exec(partHead)?.[1]
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`)
  return [
    'Content-Type: application/http',
    ...(contentId === undefined ? [] : [`Content-ID: <response-${contentId}>`]),
    '',
    `HTTP/1.1 ${response.status} ${response.statusText || 'Status'}`,
    ...lines,
    '',
    await response.text(),
  ].join('\r\n')
}

function split(body: string, boundary: string): string[] {
  const parts = `\r\n${body}`.split(`\n--${boundary}`).slice(1)
  const end = parts.findIndex((part) => part.startsWith('--'))
  return (end < 0 ? parts : parts.slice(0, end)).map((part) => part.replace(/^[ \t]*\r?\n/, ''))
}

function cutAtBlankLine(text: string): [string, string] {
  const found = /\r?\n\r?\n/.exec(text)
  return found ? [text.slice(0, found.index), text.slice(found.index + found[0].length)] : [text, '']
}
