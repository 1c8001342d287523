/** A message whose headers and parts take long to parse where a parser is not linear. The subject stays readable. */
export function hostileMessage(subject: string, number: number): string {
  const kinds = Object.values(KINDS)
  const make: () => Parts = kinds[Math.floor(number / 10) % kinds.length] ?? (() => ({}))
  const { headers = [], body = 'This is hostile.', type = 'text/plain; charset=utf-8' } = make()
  return [
    `Message-ID: <${subject}@mail.example>`,
    'From: Eve <eve@mail.example>',
    `Subject: ${subject}`,
    `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
    'MIME-Version: 1.0',
    `Content-Type: ${type}`,
    ...headers,
    '',
    body,
    '',
  ].join('\r\n')
}

interface Parts {
  headers?: string[]
  type?: string
  body?: string
}

const SIZE = 126 * 1024

const KINDS: Record<string, () => Parts> = {
  groups: () => ({ headers: [`To: ${folded('g:'.repeat(SIZE / 2))}`] }),
  comments: () => ({ headers: [`To: ${folded('('.repeat(SIZE))}`] }),
  quotes: () => ({ headers: [`Cc: ${folded('"a\\" '.repeat(SIZE / 5))}`] }),
  recipients: () => ({ headers: [`To: ${folded('ann@mail.example, '.repeat(SIZE / 18))}`] }),
  references: () => ({ headers: [`References: ${folded('<a@mail.example> '.repeat(SIZE / 17))}`] }),
  words: () => ({ headers: [`X-Words: ${folded('=?utf-8?q?=41?= '.repeat(SIZE / 16))}`] }),
  nested: () => nested(200),
  html: () => ({ type: 'text/html; charset=utf-8', body: wrapped(`${'<div>'.repeat(20_000)}${'&#'.repeat(20_000)}`) }),
  charset: () => ({ type: 'text/plain; charset=x-unknown-charset', body: wrapped('\u00e9'.repeat(10_000)) }),
}

/** Lines of a header, as servers require them. */
const folded = (value: string) => (value.match(/.{1,900}/g) ?? []).join('\r\n ')

const wrapped = (text: string) => (text.match(/.{1,900}/g) ?? []).join('\r\n')

function nested(depth: number): Parts {
  let body = 'deep'
  for (let level = depth; level > 0; level -= 1) {
    const inner = level === depth ? 'text/plain' : `multipart/mixed; boundary="b${level + 1}"`
    body = `--b${level}\r\nContent-Type: ${inner}\r\n\r\n${body}\r\n--b${level}--`
  }
  return { type: 'multipart/mixed; boundary="b1"', body }
}
