import type { Reading } from './readers.ts'

/** The true contents of a message. Only the members that are given are judged. */
export interface Expected {
  subject?: string
  from?: { name: string; email: string }
  /** The sender's address, whatever the name. */
  email?: string
  to?: string[]
  messageId?: string
  inReplyTo?: string
  references?: string[]
  /** Any of these. */
  date?: (string | null)[]
  text?: string
  /** The text without the marks of quotes. */
  unquoted?: string
  /** Words of what is shown, in this order, and others that are not shown. */
  has?: string[]
  absent?: string[]
  /** Where the words are, if not in either form. */
  form?: 'html'
  files?: [name: string, sha1: string][]
}

/** The members that a reader has wrong, or undefined if it does not offer one of them. */
export function wrongMembers(expected: Expected, read: Reading): string[] | undefined {
  if (expected.references !== undefined && read.references === undefined) return undefined
  return Object.keys(expected).filter((name) => !isRight[name as keyof Expected](expected, read))
}

type Judge = (expected: Expected, read: Reading) => boolean

const isRight: Record<keyof Expected, Judge> = {
  subject: (expected, read) => oneLine(read.subject) === expected.subject,
  from: (expected, read) =>
    oneLine(read.from?.name) === expected.from?.name && read.from?.email === expected.from?.email,
  email: (expected, read) => read.from?.email === expected.email,
  to: (expected, read) => isSame(expected.to, read.to ?? []),
  messageId: (expected, read) => bare(read.messageId) === expected.messageId,
  inReplyTo: (expected, read) => bare(read.inReplyTo) === expected.inReplyTo,
  references: (expected, read) => isSame(expected.references, read.references?.map(bare)),
  date: (expected, read) => expected.date?.includes(read.date ?? null) ?? false,
  text: (expected, read) => trimmed(read.text) === expected.text,
  unquoted: (expected, read) => unquoted(read.text) === unquoted(expected.unquoted),
  has: ({ has = [], form }, read) =>
    (form === 'html' ? [read.html] : [read.text, read.html].filter((text) => text !== null)).some(isShownIn(has)) &&
    (form === 'html' || isShownIn(has)(read.html ?? read.text)),
  absent: ({ absent = [] }, read) => absent.every((words) => !`${read.text}\n${read.html}`.includes(words)),
  form: () => true,
  files: (expected, read) => isSame(expected.files, read.files?.map(([name, sha1]) => [name, sha1]).sort()),
}

function isShownIn(words: readonly string[]): (text: string | null | undefined) => boolean {
  return (text) => {
    let at = 0
    for (const word of words) {
      const found = (text ?? '').indexOf(word, at)
      if (found === -1) return false
      at = found + word.length
    }
    return true
  }
}

function isSame(expected: unknown, read: unknown): boolean {
  return JSON.stringify(expected) === JSON.stringify(read)
}

function oneLine(text: string | null | undefined): string {
  return (text ?? '').replace(/\s+/g, ' ').trim()
}

function bare(id: string | null | undefined): string {
  return (id ?? '').trim().replace(/^<|>$/g, '')
}

function trimmed(text: string | null | undefined): string {
  return (text ?? '').replaceAll('\r\n', '\n').trim()
}

/** Programs write quotes with and without a space behind the mark, and lines of space as empty ones. */
function unquoted(text: string | null | undefined): string {
  return trimmed(text)
    .split('\n')
    .map((line) => line.replace(/^[> ]*/, '').trimEnd())
    .join('\n')
    .trim()
}
