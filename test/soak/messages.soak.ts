import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { type Expected, wrongMembers } from '../mail/judging.ts'
import { type Reader, type Reading, readByMailparser, readByPostalMime, readByPosthorn } from '../mail/readers.ts'

const MESSAGES = 3900
const PYTHON = "Python's email"

const READERS: Record<string, Reader> = {
  Posthorn: readByPosthorn,
  'postal-mime': readByPostalMime,
  mailparser: readByMailparser,
}

interface OddMessage {
  kind: string
  form: string
  /** Base64. */
  raw: string
  expected: Expected
  python: Reading | null
}

/** Counts messages of a kind that a reader offers all members of. */
interface Score {
  right: number
  judged: number
}

describe('odd messages', () => {
  it('are read right more often than by other readers, of every kind', { timeout: 600_000 }, async () => {
    const scores = new Map<string, Map<string, Score>>()
    const differences = new Map<string, { count: number; example: string }>()
    inNewYork()
    for await (const message of oddMessages()) {
      const bytes = Buffer.from(message.raw, 'base64')
      const readings: [string, Reading | null][] = [[PYTHON, message.python]]
      for (const [name, read] of Object.entries(READERS)) readings.push([name, await orNothing(read, bytes)])
      for (const [name, reading] of readings) {
        const wrong = reading === null ? ['everything'] : wrongMembers(message.expected, reading)
        if (wrong === undefined) continue
        score(scores, message.kind, name, wrong.length === 0)
        if (wrong.length > 0) note(differences, `${name}: ${message.kind}, ${message.form}: ${wrong}`, message, reading)
      }
    }
    report(scores, differences)
    for (const [kind, readers] of scores) {
      const { right, judged } = readers.get('Posthorn') ?? { right: 0, judged: 1 }
      for (const [name, other] of readers) {
        expect(right / judged, `${kind}: Posthorn and ${name}`).toBeGreaterThanOrEqual(other.right / other.judged)
      }
    }
    const own = [...differences].filter(([what]) => what.startsWith('Posthorn:'))
    expect(own).toEqual([])
  })
})

/** A date without a zone is UTC, wherever the process runs. */
function inNewYork(): void {
  const { TZ } = process.env
  process.env.TZ = 'America/New_York'
  onTestFinished(() => {
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  })
}

async function* oddMessages(): AsyncGenerator<OddMessage> {
  const python = spawn('python3', ['test/kit/messages/odd_messages.py', `${inject('seed')}`, `${MESSAGES}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number | null>((resolve) => python.once('close', resolve))
  for await (const line of createInterface({ input: python.stdout })) yield JSON.parse(line)
  expect(await ended).toBe(0)
}

async function orNothing(read: Reader, bytes: Buffer): Promise<Reading | null> {
  try {
    return await read(bytes)
  } catch {
    return null
  }
}

function score(scores: Map<string, Map<string, Score>>, kind: string, reader: string, isRight: boolean): void {
  const ofKind = scores.get(kind) ?? new Map<string, Score>()
  const counts = ofKind.get(reader) ?? { right: 0, judged: 0 }
  ofKind.set(reader, { right: counts.right + Number(isRight), judged: counts.judged + 1 })
  scores.set(kind, ofKind)
}

function note(
  differences: Map<string, { count: number; example: string }>,
  what: string,
  { expected }: OddMessage,
  reading: Reading | null,
): void {
  const earlier = differences.get(what)
  const members = Object.keys(expected).flatMap((name) => JUDGED_BY[name] ?? name)
  const shown = members.map((name) => [name, reading?.[name as keyof Reading]])
  const example = earlier?.example ?? JSON.stringify([expected, Object.fromEntries(shown)]).slice(0, 600)
  differences.set(what, { count: (earlier?.count ?? 0) + 1, example })
}

/** The members of a reading that decide on one that is expected, if they have other names. */
const JUDGED_BY: Readonly<Record<string, readonly string[]>> = {
  email: ['from'],
  unquoted: ['text'],
  has: ['text', 'html'],
  absent: ['text', 'html'],
  form: ['html'],
}

function report(
  scores: Map<string, Map<string, Score>>,
  differences: Map<string, { count: number; example: string }>,
): void {
  const names = ['Posthorn', 'postal-mime', 'mailparser', PYTHON]
  const rows = [...scores].map(([kind, readers]) => {
    const cells = names.map((name) => {
      const { right, judged } = readers.get(name) ?? { right: 0, judged: 0 }
      return judged === 0 ? '–' : `${Math.round((right / judged) * 1000) / 10} %`
    })
    return `| ${[kind, ...cells].join(' | ')} |`
  })
  console.log([`| | ${names.join(' | ')} |`, '|---|---|---|---|---|', ...rows].join('\n'))
  const sorted = [...differences].sort(([left], [right]) => left.localeCompare(right))
  console.log(sorted.map(([what, { count, example }]) => `${what} (${count})\n    ${example}`).join('\n'))
}
