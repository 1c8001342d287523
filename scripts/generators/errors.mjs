// `docs/errors.md`, from the catalogue of error codes.
import { ERROR_CATALOGUE, INPUT_CODES } from '../../src/platform/errors/app-error.ts'
import { CONNECTION_PROBLEMS } from '../../src/platform/errors/connection-problems.ts'

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
    `${INPUT_CODES.map((code) => `\`${code}\``).join(', ')}.`,
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
  lines.push(
    '',
    '## Why a server cannot be used',
    '',
    'Errors of a sign-in at a mail or calendar server (`imap_tls`, `smtp_auth_failed` and so on) have one detail if the server or its',
    'certificate shows the reason. Its `code` says what is wrong, its `path` is the field of the server, such as `body.smtpHost`.',
    '`failureReason` of a session, the reason of an account in `error` and the errors of messages that were not sent have the same',
    'reasons. For an account that is connected already, the `path` is `account` and the error `provider_unavailable`.',
    '',
    '| `code` | The server | What to do |',
    '|---|---|---|',
  )
  for (const [code, { text, advice }] of Object.entries(CONNECTION_PROBLEMS)) {
    lines.push(`| \`${code}\` | ${text} | ${advice} |`)
  }
  lines.push(
    '',
    'A change that a mail server refuses is `quota_exceeded` when the mailbox is full, `folder_read_only` when the folder accepts no',
    'changes, and `not_permitted` when the account lacks the right.',
  )
  return `${lines.join('\n')}\n`
}
