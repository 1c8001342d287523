import type { StrictMessage } from './mailbox.ts'

interface Found {
  seq: number
  message: StrictMessage
}

/** Keys: a sequence set, UID, SINCE, BEFORE, DELETED. */
export function search(known: readonly StrictMessage[], criteria: string): Found[] {
  const words = criteria.split(' ')
  const tests: ((found: Found) => boolean)[] = []
  while (words.length > 0) {
    const key = (words.shift() ?? '').toUpperCase()
    if (key === 'ALL') continue
    if (key === 'UID') tests.push(inSet(words.shift() ?? '', highestUid(known), ({ message }) => message.uid))
    else if (key === 'SINCE') tests.push(received(words.shift() ?? '', (time, day) => time >= day))
    else if (key === 'BEFORE') tests.push(received(words.shift() ?? '', (time, day) => time < day))
    else if (key === 'DELETED') tests.push(({ message }) => message.flags.has('\\Deleted'))
    else tests.push(inSet(key, known.length, ({ seq }) => seq))
  }
  return known
    .map((message, index) => ({ seq: index + 1, message }))
    .filter((found) => tests.every((test) => test(found)))
}

function received(day: string, test: (time: number, day: number) => boolean) {
  return ({ message }: Found) => test(message.internalDate.getTime(), Date.parse(`${unquoted(day)} 00:00:00 +0000`))
}

export function inSet(set: string, highest: number, toNumber: (found: Found) => number): (found: Found) => boolean {
  return (found) => parseRanges(set, highest).some(([low, high]) => toNumber(found) >= low && toNumber(found) <= high)
}

export function highestUid(messages: readonly StrictMessage[]): number {
  return messages.at(-1)?.uid ?? 0
}

/** Its `*` is the highest number that is in use, and the order of the two ends does not matter. */
export function parseRanges(set: string, highest: number): [number, number][] {
  const toNumber = (text: string) => (text === '*' ? highest : Number(text))
  return set.split(',').map((range) => {
    const [first = '', last = first] = range.split(':')
    const ends = [toNumber(first), toNumber(last)]
    return [Math.min(...ends), Math.max(...ends)]
  })
}

export function unquoted(text: string): string {
  return text.replace(/^"(.*)"$/, '$1')
}
