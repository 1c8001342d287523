// `docs/errors.md`, from the catalogue of error codes.
import { DETAIL_CODES, ERROR_CATALOGUE } from '../../src/platform/errors/app-error.ts'

const WHO = {
  api: 'the request',
  provider: 'the mail or calendar provider',
  callback: "the application's endpoint",
  server: 'the service',
}

export function errorsPage() {
  const lines = [
    '# Errors',
    '',
    'Generated from `src/platform/errors/app-error.ts` by `npm run generate`.',
    '',
    'Every error is JSON: `{"success": false, "error": {"code", "type", "message", "docUrl", "details": [{"path", "message"}]}, "requestId"}`.',
    'With `Accept: application/problem+json` the response has the form of RFC 9457. Base decisions on `code`; `message` is for people and',
    'may change. `docUrl` leads to the description of the code at `/docs/errors` of the service, which needs no key.',
    '',
    'Unknown members of a query or a body are ignored, except one that equals a known name but for case, `_` and `-`: `redirect_uri` is',
    '`400 validation_failed` with the message `body.redirect_uri is unknown; use "redirectUri".`',
    '',
    'A detail about something that a guest of a booking page enters has a `code` beside `path` and `message`, for pages in other languages:',
    `${DETAIL_CODES.map((code) => `\`${code}\``).join(', ')}.`,
    'The details of `callback_failed` and `callback_timeout` say what is wrong with the endpoint, to requests with a key only.',
    '',
    'Retry after 429 and 503 once `Retry-After` has passed. After 500, 502 and 504, retry with increasing delays and the same',
    '`Idempotency-Key`. Do not retry an unchanged request after any other 4xx.',
    '',
    '| Status | `code` | What failed (`type`) | Meaning |',
    '|---|---|---|---|',
  ]
  for (const [code, [status, type, text]] of Object.entries(ERROR_CATALOGUE)) {
    lines.push(`| ${status} | \`${code}\` | ${WHO[type]} (\`${type}\`) | ${text} |`)
  }
  return `${lines.join('\n')}\n`
}
