import { shortText } from './clean-text.ts'

interface ErrorBody {
  error: {
    code: string
    type: string
    message: string
    details?: { path: string; message: string }[]
    redirectUrl?: string
  }
  requestId?: string
}

const MAX_MESSAGE = 500
const MAX_DETAILS = 10

/** Says what the API refused, whose fault it is, and what the model should do about it. */
export function describeFailure(response: Response, bytes: Buffer): string {
  const { status } = response
  const body = parse(bytes)
  if (body === undefined) {
    return `The address of Posthorn responded ${status}, but not as Posthorn does. The user should check the address in the configuration of this MCP server.`
  }
  const { code, type, message, details = [] } = body.error
  const corrections = details
    .slice(0, MAX_DETAILS)
    .map((detail) => `${detail.path.replace(/^body\./, '')}: ${shortText(detail.message, MAX_MESSAGE)}`)
  return [
    `Posthorn refused the request (${status} ${code}): ${shortText(message, MAX_MESSAGE)}`,
    ...(corrections.length > 0 ? [`${corrections.join('; ')}.`] : []),
    advice(status, code, type, response.headers.get('retry-after')),
    ...(body.requestId === undefined ? [] : [`Request id: ${body.requestId}.`]),
  ].join(' ')
}

function parse(bytes: Buffer): ErrorBody | undefined {
  try {
    const body = JSON.parse(bytes.toString())
    return typeof body?.error?.code === 'string' && typeof body.error.message === 'string' ? body : undefined
  } catch {
    return undefined
  }
}

function advice(status: number, code: string, type: string, retryAfter: string | null): string {
  const wait = retryAfter === null ? 'later' : `in ${retryAfter} seconds`
  switch (code) {
    case 'unauthorized':
      return 'Report to the user that the API key in the configuration of this MCP server is missing or not valid.'
    case 'forbidden':
      return 'Do not try again: this key does not permit it. The user would have to configure a key with a wider scope.'
    case 'not_found':
      return 'Get current ids from the tool that lists them.'
    case 'rate_limited':
    case 'mail_limited':
      return `Wait: the same request may succeed ${wait}.`
    case 'invalid_cursor':
      return 'Repeat the first request without cursor.'
  }
  if (type === 'provider') {
    return status >= 500
      ? `The provider of the mailbox has a problem. The same request may succeed ${wait}.`
      : 'The provider of the mailbox refuses this, and will refuse the same request again. Report it to the user.'
  }
  if (type === 'callback')
    return `The application behind the booking page failed. The same request may succeed ${wait}.`
  if (status >= 500) {
    return `This is a problem of Posthorn, not of your arguments. Try once more ${wait}, then report it to the user, with the request id.`
  }
  return 'Correct the arguments, or explain to the user why it is not possible.'
}
