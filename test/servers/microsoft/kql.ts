import { containsPhrase } from '../fake/words.ts'
import type { Emulator, MessageRow, Person } from './emulator.ts'
import type { Mailboxes } from './mailbox.ts'

type Test = (message: Searchable) => boolean

interface Searchable {
  row: MessageRow
  text: string
  files: string
}

/**
 * `$search` on messages: a quoted string with KQL. A word alone is searched in sender, subject and body. Restrictions of one property
 * without an operator between them are alternatives. Returns undefined for what Graph refuses.
 */
export function parseSearch(
  value: string,
): ((row: MessageRow, boxes: Mailboxes, emulator: Emulator) => boolean) | undefined {
  const quoted = /^"((?:[^"\\]|\\.)*)"$/s.exec(value)?.[1]
  if (quoted === undefined) return undefined
  const query = quoted.replaceAll(/\\(.)/gs, '$1')
  const tokens = query.match(/[()]|(?:[a-z]+(?:<=|>=|<>|[:=<>]))?(?:"[^"]*"|[^\s()"]+)/gi) ?? []
  const test = expression(tokens)
  if (test === undefined || tokens.length > 0) return undefined
  return (row, boxes, emulator) =>
    test({
      row,
      text: boxes.textOf(row.microsoft_id),
      files: emulator.microsoft.attachments
        .findBy('message_microsoft_id', row.microsoft_id)
        .map(({ name }) => name)
        .join(' '),
    })
}

/** Operators that this fake refuses. */
const UNSUPPORTED = ['ALL', 'ANY', 'NEAR', 'NONE', 'ONEAR', 'WORDS', 'XRANK']

/** OR binds less than AND, which is also what a space means, except between restrictions of one property. */
function expression(tokens: string[]): Test | undefined {
  const alternatives: { test: Test; property: string | undefined }[][] = [[]]
  let isNegated = false
  let isJoined = true
  while (tokens.length > 0 && tokens[0] !== ')') {
    const qualified = tokens.shift() ?? ''
    const token = qualified.replace(/^[+-]/, '')
    if (qualified.startsWith('-')) isNegated = true
    if (UNSUPPORTED.includes(token)) return undefined
    if (token === 'OR') alternatives.push([])
    else if (token === 'AND') isJoined = true
    else if (token === 'NOT') isNegated = true
    else {
      const property = /^([a-z]+)[:=]/i.exec(token)?.[1]?.toLowerCase()
      const found = token === '(' ? expression(tokens) : restriction(token)
      if (found === undefined || (token === '(' && tokens.shift() !== ')')) return undefined
      const test: Test = isNegated ? (message) => !found(message) : found
      const before = alternatives.at(-1)?.at(-1)
      if (before !== undefined && !isJoined && property !== undefined && before.property === property) {
        const other = before.test
        before.test = (message) => other(message) || test(message)
      } else alternatives.at(-1)?.push({ test, property })
      isNegated = false
      isJoined = false
      continue
    }
    if (token === 'OR') isJoined = true
  }
  if (alternatives.some((tests) => tests.length === 0)) return undefined
  return (message) => alternatives.some((tests) => tests.every(({ test }) => test(message)))
}

function restriction(token: string): Test | undefined {
  const [, property, operator = ':', text = ''] = /^(?:([a-z]+)(<=|>=|<>|[:=<>]))?(.*)$/is.exec(token) ?? []
  const value = text.replaceAll('"', '')
  const isPrefix = value.endsWith('*')
  const has = (text: string | null) => containsPhrase(text ?? '', value, isPrefix)
  const persons = (list: readonly Person[]) => list.some(({ name, address }) => has(`${name ?? ''} ${address}`))
  const sender = ({ row }: Searchable) => has(`${row.from_name ?? ''} ${row.from_address ?? ''}`)
  const tests: Record<string, Test> = {
    from: sender,
    to: ({ row }) => persons(row.to_recipients),
    cc: ({ row }) => persons(row.cc_recipients),
    bcc: ({ row }) => persons(row.bcc_recipients),
    recipients: ({ row }) => persons([...row.to_recipients, ...row.cc_recipients, ...row.bcc_recipients]),
    subject: ({ row }) => has(row.subject),
    body: ({ text }) => has(text),
    attachment: ({ files }) => has(files),
    hasattachments: ({ row }) => String(row.has_attachments) === value,
    received: ({ row }) => compareDays(row.received_date_time.slice(0, 10), operator, value),
  }
  if (property === undefined) return (message) => sender(message) || has(message.row.subject) || has(message.text)
  return tests[property.toLowerCase()]
}

function compareDays(day: string, operator: string, value: string): boolean {
  if (operator === '<=') return day <= value
  if (operator === '>=') return day >= value
  if (operator === '<') return day < value
  if (operator === '>') return day > value
  return day === value
}
