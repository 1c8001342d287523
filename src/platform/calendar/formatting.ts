import type { Component } from './components.ts'

const MAX_OCTETS = 75

/** The text of an object, with folded lines (RFC 5545, 3.1). */
export function formatObject(calendar: Component): string {
  return `${formatLines(calendar).map(folded).join('\r\n')}\r\n`
}

function formatLines({ name, lines, components }: Component): string[] {
  return [`BEGIN:${name}`, ...lines, ...components.flatMap(formatLines), `END:${name}`]
}

/** Never inside a character: programs read each line by itself. */
function folded(line: string): string {
  if (Buffer.byteLength(line) <= MAX_OCTETS) return line
  const parts: string[] = []
  let start = 0
  let octets = 0
  for (let at = 0; at < line.length; ) {
    const code = line.codePointAt(at) ?? 0
    const size = utf8Length(code)
    if (octets + size > MAX_OCTETS) {
      parts.push(line.slice(start, at))
      start = at
      // The space at the beginning of the next line.
      octets = 1
    }
    octets += size
    at += code > 0xffff ? 2 : 1
  }
  return [...parts, line.slice(start)].join('\r\n ')
}

function utf8Length(codePoint: number): number {
  if (codePoint < 0x80) return 1
  if (codePoint < 0x800) return 2
  return codePoint < 0x10000 ? 3 : 4
}

/** A property of type TEXT. */
export function textLine(name: string, text: string): string {
  const escaped = text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[\\;,]/g, '\\$&')
    .replaceAll('\n', '\\n')
  return `${name}:${withoutControls(escaped)}`
}

/** A parameter value, in quotes where it needs them. Quotes and line breaks are written as RFC 6868 says. */
export function parameterValue(text: string): string {
  const encoded = text
    .replaceAll('^', '^^')
    .replaceAll('"', "^'")
    .replaceAll(/\r\n?|\n/g, '^n')
  const clean = withoutControls(encoded)
  return /[:;,]/.test(clean) ? `"${clean}"` : clean
}

function withoutControls(text: string): string {
  return text.replaceAll(/[\u0000-\u0008\u000a-\u001f\u007f]/g, '')
}

/** A UTC offset: `+0100`, with seconds where there are some. */
export function offsetText(offsetMs: number): string {
  const seconds = Math.abs(offsetMs) / 1000
  const parts = [
    Math.floor(seconds / 3600),
    Math.floor(seconds / 60) % 60,
    ...(seconds % 60 === 0 ? [] : [seconds % 60]),
  ]
  return `${offsetMs < 0 ? '-' : '+'}${parts.map((part) => String(part).padStart(2, '0')).join('')}`
}
