import type { Card, CardLine } from './card.ts'
import { linesNamed } from './card.ts'
import { textValue } from './values.ts'

/** Words that say how to use a value, and not which one it is. */
const TECHNICAL = new Set(['pref', 'internet', 'voice', 'x400', 'msg', 'text', 'dom', 'intl', 'postal', 'parcel'])
/** What the service calls them. The first that a line has is its type. */
const NAMES: readonly (readonly [word: string, type: string])[] = [
  ['fax', 'fax'],
  ['cell', 'mobile'],
  ['iphone', 'mobile'],
  ['mobile', 'mobile'],
  ['pager', 'pager'],
  ['main', 'main'],
  ['home', 'home'],
  ['work', 'work'],
  ['other', 'other'],
]

/** The labels that a person gave to groups of lines: Apple writes `item1.X-ABLabel`. */
export function readLabels(card: Card): ReadonlyMap<string, string> {
  const labels = new Map<string, string>()
  for (const { line } of linesNamed(card, ['X-ABLABEL'])) {
    // The labels that its programs offer are written as `_$!<HomePage>!$_`.
    const text = textValue(line)
    const [, offered] = /^_\$!<(.*)>!\$_$/.exec(text) ?? []
    if (line.group !== '') labels.set(line.group.toLowerCase(), offered ?? text)
  }
  return labels
}

/** `work`, `mobile`, or the word of a person. Empty without one. */
export function typeOf(line: CardLine, labels: ReadonlyMap<string, string>): string {
  const label = labels.get(line.group.toLowerCase())
  if (line.group !== '' && label !== undefined) return label.toLowerCase()
  const words = typeWords(line)
  const known = NAMES.find(([word]) => words.includes(word))
  return known?.[1] ?? words.find((word) => !TECHNICAL.has(word)) ?? ''
}

/** The values of TYPE, in lower case. Some programs write all of them between quotes. */
function typeWords({ parameters }: CardLine): string[] {
  return (parameters.get('TYPE') ?? []).flatMap((text) => text.toLowerCase().split(',')).map((word) => word.trim())
}

export function isPreferred(line: CardLine): boolean {
  return typeWords(line).includes('pref') || line.parameters.get('PREF')?.[0] === '1'
}

/** The words of TYPE for one of our types. */
export function wordsFor(type: string): string[] {
  if (type === '') return []
  return [type === 'mobile' ? 'cell' : type]
}
