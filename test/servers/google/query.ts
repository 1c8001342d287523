import type { GoogleMessage } from '@emulators/google'
import { decodeText, isAttachment, parseMime, walk } from '../fake/mime.ts'
import { containsPhrase } from '../fake/words.ts'

type Test = (message: Searchable) => boolean

interface Searchable {
  row: GoogleMessage
  headers: Map<string, string>
  text: string
  files: string
}

/**
 * Gmail's search language: words, quoted phrases, `-`, `OR`, groups in parentheses (all) and braces (any), and the operators below.
 * Words match complete words of addresses, subject and text.
 */
export function matching(query: string): (message: GoogleMessage) => boolean {
  const tokens = query.match(/-?(?:[a-z0-9]+:)?(?:"[^"]*"|[(){}]|[^\s(){}"]+)/gi) ?? []
  const test = all(tokens, undefined)
  return (message) => test(searchable(message))
}

/** Reads tokens until `end`, which it removes. */
function all(tokens: string[], end: string | undefined): Test {
  const alternatives: Test[][] = []
  let joins = false
  for (let token = tokens.shift(); token !== undefined && token !== end; token = tokens.shift()) {
    if (token === 'OR') joins = true
    else if (token !== 'AND') {
      const test = clause(token, tokens)
      if (joins) alternatives.at(-1)?.push(test)
      else alternatives.push([test])
      joins = false
    }
  }
  const isAny = end === '}'
  const some = (tests: Test[]) => (message: Searchable) => tests.some((test) => test(message))
  const parts = alternatives.map(some)
  return (message) => (isAny ? parts.some((test) => test(message)) : parts.every((test) => test(message)))
}

function clause(token: string, tokens: string[]): Test {
  if (token.startsWith('-') && token.length > 1) {
    const test = clause(token.slice(1), tokens)
    return (message) => !test(message)
  }
  if (token === '(') return all(tokens, ')')
  if (token === '{') return all(tokens, '}')
  const [, name, quoted] = /^(?:([a-z0-9]+):)?(.*)$/is.exec(token) ?? []
  const value = (quoted ?? '').replaceAll('"', '')
  const operator = OPERATORS[name?.toLowerCase() ?? '']
  return operator ? operator(value) : anywhere(token.replaceAll('"', ''))
}

const header =
  (name: string) =>
  (value: string): Test =>
  ({ headers }) =>
    containsPhrase(headers.get(name) ?? '', value)

const anywhere =
  (value: string): Test =>
  ({ headers, text }) =>
    ['from', 'to', 'cc', 'bcc', 'subject'].some((name) => containsPhrase(headers.get(name) ?? '', value)) ||
    containsPhrase(text, value)

const OPERATORS: Record<string, (value: string) => Test> = {
  from: header('from'),
  to: header('to'),
  cc: header('cc'),
  bcc: header('bcc'),
  subject: header('subject'),
  filename:
    (value) =>
    ({ files }) =>
      containsPhrase(files, value),
  after:
    (value) =>
    ({ row }) =>
      Number(row.internal_date) >= parseTime(value),
  before:
    (value) =>
    ({ row }) =>
      Number(row.internal_date) < parseTime(value),
  is:
    (value) =>
    ({ row }) =>
      value === 'read' ? !row.label_ids.includes('UNREAD') : row.label_ids.includes(value.toUpperCase()),
  in:
    (value) =>
    ({ row }) =>
      value === 'anywhere' || row.label_ids.includes(value.toUpperCase()),
  has:
    (value) =>
    ({ files }) =>
      value === 'attachment' && files !== '',
  rfc822msgid:
    (value) =>
    ({ row }) =>
      row.message_id === `<${value}>`,
}

/** Seconds, or a date, which begins at midnight in California. */
function parseTime(value: string): number {
  return /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(`${value.replaceAll('/', '-')}T08:00:00Z`)
}

function searchable(row: GoogleMessage): Searchable {
  const root = parseMime(Buffer.from(row.raw ?? '', 'base64url'))
  const parts = [...walk(root)]
  const texts = parts.filter(
    (part) => part.children.length === 0 && part.type.startsWith('text/') && !isAttachment(part),
  )
  return {
    row,
    headers: new Map(root.headers.map(({ name, value }) => [name.toLowerCase(), value])),
    text: texts.map((part) => decodeText(part).replace(/<[^>]*>/g, ' ')).join('\n'),
    files: parts
      .filter(isAttachment)
      .map(({ filename }) => filename || 'noname')
      .join(' '),
  }
}
